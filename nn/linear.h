// y = x W' + b
#pragma once

#include "fovea/nn/module.h"

namespace fovea {

struct LinearOptions {
  int64_t in = 0;   ///< width of x
  int64_t out = 0;  ///< width of y
  bool bias = true;
  DType dtype = f32;
};

/// x (..., in) -> (..., out). Parameters weight (out, in) and bias (out), undefined without one.
/// Both start as U(-1/sqrt(in), 1/sqrt(in)), as torch.nn.Linear. ShapeError when the last axis of x
/// is not `in`; ValueError for negative widths.
class Linear : public Module {
 public:
  Tensor weight, bias;

  explicit Linear(const LinearOptions& o);
  Linear(int64_t in, int64_t out, bool bias = true)
      : Linear(LinearOptions{.in = in, .out = out, .bias = bias}) {}

  Tensor forward(const Tensor& x) const;
  Tensor operator()(const Tensor& x) const { return forward(x); }
  int64_t in() const { return weight.size(1); }
  int64_t out() const { return weight.size(0); }
  void visit(Visitor& v) override;
};

}  // namespace fovea
