#include "fovea/nn/attention/efficient_additive.h"

#include <cmath>

#include "fovea/nn/attention/detail/token_mask.h"
#include "fovea/nn/init.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr const char* kEfficientAdditiveAttention = "EfficientAdditiveAttention";

EfficientAdditiveAttentionOptions complete(EfficientAdditiveAttentionOptions o) {
  o.width = detail::head_width(kEfficientAdditiveAttention, o.d_model, o.width, o.heads);
  return o;
}

Linear projection(const EfficientAdditiveAttentionOptions& o, int64_t in, int64_t out) {
  return Linear({.in = in, .out = out, .bias = o.bias, .dtype = o.dtype});
}

// Of length 1 along the axis; 0 stays 0.
Tensor unit(const Tensor& x, int64_t axis) {
  const Tensor length = norm(x, 2, axis, keepdim);
  return x / where(length > 0, length, ones({}, x.dtype()));
}

}  // namespace

EfficientAdditiveAttention::EfficientAdditiveAttention(const EfficientAdditiveAttentionOptions& o)
    : w_q(projection(o, o.d_model, complete(o).width * o.heads)),
      w_k(projection(o, o.d_model, complete(o).width * o.heads)),
      w_proj(projection(o, complete(o).width * o.heads, complete(o).width * o.heads)),
      w_o(projection(o, complete(o).width * o.heads, o.d_model)),
      score(Tensor::empty({complete(o).width * o.heads}, o.dtype)),
      o_(complete(o)) {
  init::normal_(score, 0, 1);
  score.requires_grad_();
}

Tensor EfficientAdditiveAttention::forward(const Tensor& x_in, const Tensor& keep_mask) const {
  detail::check_tokens(kEfficientAdditiveAttention, x_in, o_.d_model, keep_mask);
  const Tensor x = detail::tokens_only(x_in, keep_mask);
  const Tensor q = unit(w_q(x), -1), k = unit(w_k(x), -1);
  const Tensor scores = matmul(q, score) / std::sqrt(static_cast<double>(o_.width));  // (B, T)
  const Tensor a = unit(detail::tokens_only(scores, keep_mask), 1);
  const Tensor g = matmul(unsqueeze(a, 1), q);  // (B, 1, heads D)
  return detail::tokens_only(w_o(w_proj(g * k) + q), keep_mask);
}

void EfficientAdditiveAttention::visit(Visitor& v) {
  v("w_q", w_q);
  v("w_k", w_k);
  v("w_proj", w_proj);
  v("w_o", w_o);
  v("score", score);
}

}  // namespace fovea
