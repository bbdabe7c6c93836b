#include "fovea/nn/attention/fastformer.h"

#include <cmath>

#include "fovea/nn/attention/detail/heads.h"
#include "fovea/nn/attention/detail/token_mask.h"
#include "fovea/nn/init.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr const char* kFastAdditiveAttention = "FastAdditiveAttention";

FastAdditiveAttentionOptions complete(FastAdditiveAttentionOptions o) {
  o.width = detail::head_width(kFastAdditiveAttention, o.d_model, o.width, o.heads);
  return o;
}

Linear projection(const FastAdditiveAttentionOptions& o, int64_t in, int64_t out) {
  return Linear({.in = in, .out = out, .bias = o.bias, .dtype = o.dtype});
}

// The sum over tokens of x (B, H, T, D), weighted by a softmax of score' x / sqrt D: (B, H, 1, D).
Tensor pooled(const Tensor& x, const Tensor& score, const Tensor& keep_mask) {
  const double scale = 1 / std::sqrt(static_cast<double>(x.size(3)));
  const Tensor s = transpose(matmul(x, unsqueeze(score, -1)), 2, 3) * scale;  // (B, H, 1, T)
  if (x.size(2) == 0 || !keep_mask.defined()) return matmul(softmax(s, -1), x);
  const Tensor keep = reshape(keep_mask, {x.size(0), 1, 1, x.size(2)});
  return matmul(masked_softmax(s, keep), x);
}

}  // namespace

FastAdditiveAttention::FastAdditiveAttention(const FastAdditiveAttentionOptions& o)
    : w_q(projection(o, o.d_model, complete(o).width * o.heads)),
      w_k(projection(o, o.d_model, complete(o).width * o.heads)),
      w_v(projection(o, o.d_model, complete(o).width * o.heads)),
      w_o(projection(o, complete(o).width * o.heads, complete(o).width * o.heads)),
      query_score(Tensor::empty({o.heads, complete(o).width}, o.dtype)),
      key_score(Tensor::empty({o.heads, complete(o).width}, o.dtype)),
      o_(complete(o)) {
  for (Tensor* score : {&query_score, &key_score}) {
    init::normal_(*score, 0, 0.02);
    score->requires_grad_();
  }
}

Tensor FastAdditiveAttention::forward(const Tensor& x_in, const Tensor& keep_mask) const {
  detail::check_tokens(kFastAdditiveAttention, x_in, o_.d_model, keep_mask);
  const Tensor x = detail::tokens_only(x_in, keep_mask), wide = w_q(x);
  const Tensor q = detail::by_head(wide, o_.heads), k = detail::by_head(w_k(x), o_.heads);
  const Tensor v = detail::by_head(w_v(x), o_.heads);
  const Tensor p = pooled(q, query_score, keep_mask) * k;
  const Tensor u = transpose(pooled(p, key_score, keep_mask) * v, 1, 2);  // (B, T, H, D)
  return detail::tokens_only(w_o(reshape(u, wide.shape())) + wide, keep_mask);
}

void FastAdditiveAttention::visit(Visitor& v) {
  v("w_q", w_q);
  v("w_k", w_k);
  v("w_v", w_v);
  v("w_o", w_o);
  v("query_score", query_score);
  v("key_score", key_score);
}

}  // namespace fovea
