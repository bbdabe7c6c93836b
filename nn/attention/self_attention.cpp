#include "fovea/nn/attention/self_attention.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/nn/attention/detail/heads.h"
#include "fovea/nn/attention/detail/soft_mask.h"
#include "fovea/nn/attention/mask.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr const char* kSelfAttention = "SelfAttention";

SelfAttentionOptions checked(const SelfAttentionOptions& o) {
  if (o.embed_size >= 1 && o.heads >= 1 && o.embed_size % o.heads == 0) return o;
  throw ValueError(fmt::format(
      "{}: embed_size is {}, heads is {}; embed_size must be a multiple of heads, both at least 1",
      kSelfAttention, o.embed_size, o.heads));
}

Linear of_a_head(const SelfAttentionOptions& o) {
  const int64_t width = checked(o).embed_size / o.heads;
  return Linear({.in = width, .out = width, .bias = false, .dtype = o.dtype});
}

Tensor mask_of(const Tensor& keep_mask, const Tensor& q, const Tensor& k, int64_t heads) {
  return keep_mask_of_rank_4(kSelfAttention, keep_mask, q.size(0), heads, q.size(1), k.size(1));
}

// Which keys any head of any query sees, as a mask of one query: (B or 1, 1, Tk).
Tensor seen_keys(const Tensor& keep) {
  if (!keep.defined() || keep.size(2) == 0) return {};
  return squeeze(to(amax(to(keep, i64), {1, 2}, true), boolean), 1);
}

}  // namespace

SelfAttention::SelfAttention(const SelfAttentionOptions& o)
    : values(of_a_head(o)),
      keys(of_a_head(o)),
      queries(of_a_head(o)),
      fc_out({.in = o.embed_size, .out = o.embed_size, .dtype = o.dtype}),
      o_(o) {}

// (B, T, E) -> (B, T, H, D), projected.
Tensor SelfAttention::by_head(const Linear& projection, const Tensor& x, const Tensor& seen) const {
  const Tensor clean = detail::without_unseen_keys(x, seen);
  const Tensor heads = reshape(clean, {x.size(0), x.size(1), o_.heads, o_.embed_size / o_.heads});
  return o_.project ? projection(heads) : heads;
}

Tensor SelfAttention::weights(const Tensor& k, const Tensor& q, const Tensor& keep_mask) const {
  detail::check_sequence(kSelfAttention, "k", k, o_.embed_size);
  detail::check_sequence(kSelfAttention, "q", q, o_.embed_size);
  if (k.size(0) != q.size(0)) {
    throw ShapeError(fmt::format("{}: q is {}, k is {}; need equal batches", kSelfAttention,
                                 q.shape().str(), k.shape().str()));
  }
  const Tensor keep = mask_of(keep_mask, q, k, o_.heads);
  const Tensor key = by_head(keys, k, seen_keys(keep)), query = by_head(queries, q, {});
  const bool head = o_.scale == AttentionScale::head;
  const auto width = static_cast<double>(head ? o_.embed_size / o_.heads : o_.embed_size);
  const Tensor energy = einsum("nqhd,nkhd->nhqk", {query, key});
  return detail::attention_softmax(energy / std::sqrt(width), keep);
}

Tensor SelfAttention::operator()(const Tensor& v, const Tensor& k, const Tensor& q,
                                 const Tensor& keep_mask) const {
  detail::check_sequence(kSelfAttention, "v", v, o_.embed_size);
  const Tensor attention = weights(k, q, keep_mask);
  if (v.size(0) != k.size(0) || v.size(1) != k.size(1)) {
    throw ShapeError(fmt::format("{}: v is {}, k is {}; need a value for each key", kSelfAttention,
                                 v.shape().str(), k.shape().str()));
  }
  const Tensor value = by_head(values, v, seen_keys(mask_of(keep_mask, q, k, o_.heads)));
  const Tensor heads = einsum("nhqk,nkhd->nqhd", {attention, value});
  return fc_out(reshape(heads, {q.size(0), q.size(1), o_.embed_size}));
}

void SelfAttention::visit(Visitor& visitor) {
  visitor("values", values);
  visitor("keys", keys);
  visitor("queries", queries);
  visitor("fc_out", fc_out);
}

}  // namespace fovea
