#include "fovea/nn/attention/additive_scores.h"

#include <cmath>

#include "fovea/nn/init.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

// As the weight of a Linear of h -> 1.
Tensor output_weights(int64_t h, DType dtype) {
  const Tensor v = Tensor::empty({h}, dtype);
  const double bound = 1 / std::sqrt(static_cast<double>(h));
  init::uniform_(v, -bound, bound);
  return v.requires_grad_();
}

}  // namespace

AdditiveScore::AdditiveScore(const AdditiveScoreOptions& o)
    : Score("AdditiveScore", o.query_dim, o.key_dim),
      w_q({.in = at_least_1("AdditiveScore", "query_dim", o.query_dim),
           .out = at_least_1("AdditiveScore", "hidden", o.hidden),
           .bias = false,
           .dtype = o.dtype}),
      w_k({.in = at_least_1("AdditiveScore", "key_dim", o.key_dim),
           .out = o.hidden,
           .bias = false,
           .dtype = o.dtype}),
      v(output_weights(o.hidden, o.dtype)) {}

Tensor AdditiveScore::scores(const Tensor& q, const Tensor& projected) const {
  return additive_scores(w_q(q), projected, v);
}

void AdditiveScore::visit(Visitor& visitor) {
  visitor("w_q", w_q);
  visitor("w_k", w_k);
  visitor("v", v);
}

ConcatScore::ConcatScore(const AdditiveScoreOptions& o)
    : Score("ConcatScore", o.query_dim, o.key_dim),
      w({.in = at_least_1("ConcatScore", "query_dim", o.query_dim) +
               at_least_1("ConcatScore", "key_dim", o.key_dim),
         .out = at_least_1("ConcatScore", "hidden", o.hidden),
         .dtype = o.dtype}),
      v(output_weights(o.hidden, o.dtype)) {}

Tensor ConcatScore::of_keys(const Tensor& keys) const { return key_part(w, keys); }

Tensor ConcatScore::scores(const Tensor& q, const Tensor& projected) const {
  return additive_scores(query_part(w, q), projected, v);
}

void ConcatScore::visit(Visitor& visitor) {
  visitor("w", w);
  visitor("v", v);
}

Tensor query_part(const Linear& w, const Tensor& q) {
  return linear(q, narrow(w.weight, 1, 0, q.size(-1)), w.bias);
}

Tensor key_part(const Linear& w, const Tensor& keys) {
  const int64_t width = keys.size(-1);
  return linear(keys, narrow(w.weight, 1, w.in() - width, width));
}

}  // namespace fovea
