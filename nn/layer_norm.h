// Layer normalisation. Ba 2016, "Layer normalization", eq. 4.
#pragma once

#include "fovea/nn/module.h"

namespace fovea {

struct LayerNormOptions {
  int64_t dim = 0;     ///< D, the width that is normalised
  double eps = 1e-5;   ///< added to the variance; > 0
  bool affine = true;  ///< learn weight and bias
  bool bias = true;    ///< with affine: learn the bias too
  DType dtype = f32;
};

/// x (..., D) -> (x - mean) / sqrt(var + eps) * weight + bias over the last axis, var biased.
/// Parameters weight (D), 1 at first, and bias (D), 0 at first. ShapeError when the last axis of x
/// is not D; ValueError for a negative D or an eps that is not positive.
class LayerNorm : public Module {
 public:
  Tensor weight, bias;
  int64_t dim;
  double eps;

  explicit LayerNorm(const LayerNormOptions& o);
  explicit LayerNorm(int64_t dim) : LayerNorm(LayerNormOptions{.dim = dim}) {}

  Tensor forward(const Tensor& x) const;
  Tensor operator()(const Tensor& x) const { return forward(x); }
  void visit(Visitor& v) override;
};

}  // namespace fovea
