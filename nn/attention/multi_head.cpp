#include "fovea/nn/attention/multi_head.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/nn/attention/detail/heads.h"
#include "fovea/nn/attention/mask.h"
#include "fovea/nn/detail/widths.h"
#include "fovea/nn/init.h"

namespace fovea {
namespace {

constexpr const char* kMultiHeadAttention = "MultiHeadAttention";

// Checks, and fills in what was left at 0.
MultiHeadAttentionOptions complete(MultiHeadAttentionOptions o) {
  if (o.kdim == 0) o.kdim = o.d_model;
  if (o.vdim == 0) o.vdim = o.d_model;
  if (o.kv_heads == 0) o.kv_heads = o.heads;
  if (o.d_model < 1 || o.heads < 1 || o.d_model % o.heads != 0) {
    throw ValueError(fmt::format(
        "{}: d_model is {}, heads is {}; d_model must be a multiple of heads, both at least 1",
        kMultiHeadAttention, o.d_model, o.heads));
  }
  if (o.kv_heads < 1 || o.heads % o.kv_heads != 0) {
    throw ValueError(
        fmt::format("{}: heads is {}, kv_heads is {}; heads must be a multiple of "
                    "kv_heads",
                    kMultiHeadAttention, o.heads, o.kv_heads));
  }
  detail::check_widths(kMultiHeadAttention, {{"kdim", o.kdim}, {"vdim", o.vdim}});
  if (o.rotary) o.rotary->dim = o.d_model / o.heads;
  if (!(o.dropout >= 0 && o.dropout <= 1)) {
    throw ValueError(fmt::format("{}: dropout is {}; a probability from 0 to 1 is needed",
                                 kMultiHeadAttention, o.dropout));
  }
  return o;
}

Linear projection(const MultiHeadAttentionOptions& o, int64_t in, int64_t out) {
  return Linear({.in = in, .out = out, .bias = o.bias, .dtype = o.dtype});
}

void check_not_rotary(const char* what, bool rotary) {
  if (rotary)
    throw ValueError(
        fmt::format("{}: {}: the layer has rotary positions", kMultiHeadAttention, what));
}

}  // namespace

AttentionOptions attention_options(const char* op, const AttendOptions& o, const Shape& scores) {
  if (o.bias.defined()) {
    if (!o.bias.is_floating()) {
      throw DTypeError(fmt::format("{}: bias is {} {}; floats are needed", op, name(o.bias.dtype()),
                                   o.bias.shape().str()));
    }
    if (!(broadcast_shapes(op, o.bias.shape(), scores) == scores)) {
      throw ShapeError(fmt::format("{}: bias is {}; it must broadcast to the scores {}", op,
                                   o.bias.shape().str(), scores.str()));
    }
  }
  if (o.window && *o.window < 0) {
    throw ValueError(fmt::format("{}: window is {}; it counts keys, at least 0", op, *o.window));
  }
  return {
      .keep_mask = keep_mask_of_rank_4(op, o.keep_mask, scores[0], scores[1], scores[2], scores[3]),
      .bias = o.bias,
      .causal = o.causal,
      .window = o.window};
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& options)
    : w_q(projection(complete(options), options.d_model, options.d_model)),
      w_k(projection(complete(options), complete(options).kdim,
                     complete(options).kv_heads * (options.d_model / options.heads))),
      w_v(projection(complete(options), complete(options).vdim,
                     complete(options).kv_heads * (options.d_model / options.heads))),
      w_o(projection(complete(options), options.d_model, options.d_model)),
      o_(complete(options)) {
  if (o_.rotary) rotary_.emplace(*o_.rotary);
  const bool one_matrix = o_.kdim == o_.d_model && o_.vdim == o_.d_model && o_.kv_heads == o_.heads;
  for (const Linear* l : {&w_q, &w_k, &w_v}) {
    const NoGrad scope;
    // Of (3 E, E) as one matrix the bound is sqrt(6 / 4 E), not sqrt(6 / 2 E).
    init::xavier_uniform_(l->weight, one_matrix ? std::sqrt(0.5) : 1);
  }
  for (const Linear* l : {&w_q, &w_k, &w_v, &w_o}) {
    const NoGrad scope;
    if (o_.bias) init::zeros_(l->bias);
  }
}

AttentionOptions MultiHeadAttention::options_of(const AttendOptions& o, const Tensor& q,
                                                int64_t tk) const {
  AttentionOptions options =
      attention_options(kMultiHeadAttention, o, {q.size(0), o_.heads, q.size(1), tk});
  options.dropout = training ? o_.dropout : 0;
  return options;
}

MultiHeadAttention::Heads MultiHeadAttention::split(const Tensor& q, const Tensor& k,
                                                    const Tensor& v, const AttendOptions& o) const {
  detail::check_sequence(kMultiHeadAttention, "q", q, o_.d_model);
  detail::check_sequence(kMultiHeadAttention, "k", k, o_.kdim);
  detail::check_sequence(kMultiHeadAttention, "v", v, o_.vdim);
  if (k.size(0) != q.size(0) || v.size(0) != q.size(0) || k.size(1) != v.size(1)) {
    throw ShapeError(
        fmt::format("{}: q is {}, k is {}, v is {}; need equal batches, and a value for each key",
                    kMultiHeadAttention, q.shape().str(), k.shape().str(), v.shape().str()));
  }
  const int64_t before = o.cache ? o.cache->length() : 0;
  const AttentionOptions options = options_of(o, q, before + k.size(1));
  Heads h{detail::by_head(w_q(q), o_.heads), detail::by_head(w_k(k), o_.kv_heads),
          detail::by_head(w_v(v), o_.kv_heads), options};
  if (rotary_) {
    const Rotated turned = (*rotary_)(h.q, h.k, before);
    h.q = turned.q;
    h.k = turned.k;
  }
  if (o.cache) {
    const KeysAndValues all = o.cache->append(h.k, h.v);
    h.k = all.k;
    h.v = all.v;
  }
  return h;
}

Tensor MultiHeadAttention::merge(const Tensor& heads) const {
  const int64_t b = heads.size(0), t = heads.size(2);
  return w_o(reshape(transpose(heads, 1, 2), {b, t, o_.d_model}));
}

Tensor MultiHeadAttention::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                   const AttendOptions& o) const {
  const Heads h = split(q, k, v, o);
  return merge(scaled_dot_product_attention(h.q, h.k, h.v, h.o));
}

Attended MultiHeadAttention::attend(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttendOptions& o) const {
  const Heads h = split(q, k, v, o);
  return {merge(scaled_dot_product_attention(h.q, h.k, h.v, h.o)),
          attention_weights(h.q, h.k, h.o)};
}

KeysAndValues MultiHeadAttention::project(const Tensor& k, const Tensor& v) const {
  detail::check_sequence(kMultiHeadAttention, "k", k, o_.kdim);
  detail::check_sequence(kMultiHeadAttention, "v", v, o_.vdim);
  check_not_rotary("project", rotary_.has_value());
  return {detail::by_head(w_k(k), o_.kv_heads), detail::by_head(w_v(v), o_.kv_heads)};
}

Tensor MultiHeadAttention::attend_to(const Tensor& q, const KeysAndValues& source,
                                     const AttendOptions& o) const {
  detail::check_sequence(kMultiHeadAttention, "q", q, o_.d_model);
  check_not_rotary("attend_to", rotary_.has_value());
  const int64_t d = o_.d_model / o_.heads;
  const auto fits = [&](const Tensor& x) {
    return x.defined() && x.dim() == 4 && x.size(0) == q.size(0) && x.size(1) == o_.kv_heads &&
           x.size(3) == d;
  };
  if (!fits(source.k) || !fits(source.v) || source.k.size(2) != source.v.size(2)) {
    const auto shape = [](const Tensor& x) { return x.defined() ? x.shape().str() : "undefined"; };
    throw ShapeError(fmt::format(
        "{}: attend_to: q is {}, k is {}, v is {}; need what project() gives, ({}, {}, Tk, {})",
        kMultiHeadAttention, q.shape().str(), shape(source.k), shape(source.v), q.size(0),
        o_.kv_heads, d));
  }
  return merge(scaled_dot_product_attention(detail::by_head(w_q(q), o_.heads), source.k, source.v,
                                            options_of(o, q, source.k.size(2))));
}

void MultiHeadAttention::visit(Visitor& v) {
  v("w_q", w_q);
  v("w_k", w_k);
  v("w_v", w_v);
  v("w_o", w_o);
}

}  // namespace fovea
