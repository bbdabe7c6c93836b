#include "fovea/nn/attention/product_scores.h"

#include <algorithm>
#include <cmath>

#include "fovea/ops/ops.h"

namespace fovea {
namespace {

Tensor products(const Tensor& q, const Tensor& keys) { return matmul(q, transpose(keys, 1, 2)); }

// x / |x| along the last axis, and 0 where |x| = 0.
Tensor unit(const Tensor& x) {
  const Tensor length = norm(x, 2, -1, keepdim);
  const Tensor one = ones({}, x.dtype());
  return x * where(length > 0, reciprocal(where(length > 0, length, one)), one * 0);
}

}  // namespace

Tensor DotScore::scores(const Tensor& q, const Tensor& keys) const { return products(q, keys); }

Tensor ScaledDotScore::scores(const Tensor& q, const Tensor& keys) const {
  const auto width = static_cast<double>(std::max<int64_t>(1, q.size(2)));
  return products(q, keys) / std::sqrt(width);
}

CosineScore::CosineScore(const CosineScoreOptions& o)
    : Score("CosineScore", 0, 0), beta(full({}, o.beta, o.dtype)), learned_(o.learned) {
  if (learned_) beta.requires_grad_();
}

Tensor CosineScore::of_keys(const Tensor& keys) const { return unit(keys); }

Tensor CosineScore::scores(const Tensor& q, const Tensor& unit_keys) const {
  return products(unit(q), unit_keys) * beta;
}

void CosineScore::visit(Visitor& v) {
  if (learned_) {
    v("beta", beta);
  } else {
    v.buffer("beta", beta);
  }
}

GeneralScore::GeneralScore(const GeneralScoreOptions& o)
    : Score("GeneralScore", o.query_dim, o.key_dim),
      w({.in = at_least_1("GeneralScore", "key_dim", o.key_dim),
         .out = at_least_1("GeneralScore", "query_dim", o.query_dim),
         .bias = false,
         .dtype = o.dtype}) {}

Tensor GeneralScore::scores(const Tensor& q, const Tensor& projected) const {
  return products(q, projected);
}

}  // namespace fovea
