// Root mean square normalisation. Zhang & Sennrich 2019, eq. 4.
#pragma once

#include "fovea/nn/module.h"

namespace fovea {

struct RMSNormOptions {
  int64_t dim = 0;    ///< D, the width that is normalised
  double eps = 1e-5;  ///< added to the mean square; > 0
  DType dtype = f32;
};

/// x (..., D) -> x / sqrt(mean(x^2) + eps) * weight over the last axis: LayerNorm without taking
/// the mean away, and without bias. Parameter weight (D), 1 at first. ShapeError when the last axis
/// of x is not D; ValueError for a negative D or an eps that is not positive.
class RMSNorm : public Module {
 public:
  Tensor weight;
  int64_t dim;
  double eps;

  explicit RMSNorm(const RMSNormOptions& o);
  explicit RMSNorm(int64_t dim) : RMSNorm(RMSNormOptions{.dim = dim}) {}

  Tensor forward(const Tensor& x) const;
  Tensor operator()(const Tensor& x) const { return forward(x); }
  void visit(Visitor& v) override;
};

}  // namespace fovea
