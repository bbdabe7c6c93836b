#include "fovea/nn/attention/soft_attention.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/attention/additive_scores.h"
#include "fovea/nn/attention/detail/soft_mask.h"
#include "fovea/nn/detail/widths.h"
#include "fovea/nn/init.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr const char* kSoftAttention = "SoftAttention";

SoftAttentionOptions checked(const SoftAttentionOptions& o) {
  detail::check_widths(
      kSoftAttention,
      {{"query_dim", o.query_dim}, {"key_dim", o.key_dim}, {"value_dim", o.value_dim}});
  return o;
}

}  // namespace

SoftAttention::SoftAttention(const SoftAttentionOptions& o)
    : attn({.in = checked(o).query_dim + o.key_dim, .out = o.key_dim, .dtype = o.dtype}),
      v(Tensor::empty({o.key_dim}, o.dtype)),
      o_(o) {
  init::uniform_(v);
  v.requires_grad_();
}

SoftAttended SoftAttention::operator()(const Tensor& query, const Tensor& keys,
                                       const Tensor& values, const Tensor& keep_mask) const {
  const auto is = [](const Tensor& x, int rank, int64_t width) {
    return x.defined() && x.dim() == rank && x.size(-1) == width;
  };
  if (!is(query, 2, o_.query_dim) || !is(keys, 3, o_.key_dim) || !is(values, 3, o_.value_dim) ||
      query.size(0) != keys.size(0) || keys.size(0) != values.size(0) ||
      keys.size(1) != values.size(1)) {
    const auto shape = [](const Tensor& x) {
      return x.defined() ? x.shape().str() : std::string("undefined");
    };
    throw ShapeError(
        fmt::format("{}: query is {}, keys is {}, values is {}; need (B, {}), (B, T, {}) and "
                    "(B, T, {})",
                    kSoftAttention, shape(query), shape(keys), shape(values), o_.query_dim,
                    o_.key_dim, o_.value_dim));
  }
  const Tensor keep =
      detail::keep_mask_of_rank_3(kSoftAttention, keep_mask, query.size(0), 1, keys.size(1));
  // W [q ; k] = W_q q + W_k k: the concatenation is never written down.
  const Tensor of_query = unsqueeze(query_part(attn, query), 1);
  const Tensor of_keys = key_part(attn, detail::without_unseen_keys(keys, keep));
  const Tensor weights = detail::attention_softmax(additive_scores(of_query, of_keys, v), keep);
  return {squeeze(matmul(weights, detail::without_unseen_keys(values, keep)), 1),
          squeeze(weights, 1)};
}

void SoftAttention::visit(Visitor& visitor) {
  visitor("attn", attn);
  visitor("v", v);
}

}  // namespace fovea
