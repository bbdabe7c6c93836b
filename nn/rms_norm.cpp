#include "fovea/nn/rms_norm.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {

RMSNorm::RMSNorm(const RMSNormOptions& o) : dim(o.dim), eps(o.eps) {
  if (dim < 0 || !(eps > 0)) {
    throw ValueError(
        fmt::format("RMSNorm: dim = {}, eps = {}; need dim >= 0 and eps > 0", dim, eps));
  }
  weight = ones({dim}, o.dtype);
  weight.requires_grad_();
}

Tensor RMSNorm::forward(const Tensor& x) const {
  if (x.dim() == 0 || x.size(-1) != dim) {
    throw ShapeError(
        fmt::format("RMSNorm: x is {}; its last axis must have size {}", x.shape().str(), dim));
  }
  return rms_norm(x, weight, eps);
}

void RMSNorm::visit(Visitor& v) { v("weight", weight); }

}  // namespace fovea
