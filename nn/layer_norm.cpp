#include "fovea/nn/layer_norm.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {

LayerNorm::LayerNorm(const LayerNormOptions& o) : dim(o.dim), eps(o.eps) {
  if (dim < 0 || !(eps > 0)) {
    throw ValueError(
        fmt::format("LayerNorm: dim = {}, eps = {}; need dim >= 0 and eps > 0", dim, eps));
  }
  if (!o.affine) return;
  weight = ones({dim}, o.dtype);
  weight.requires_grad_();
  if (!o.bias) return;
  bias = zeros({dim}, o.dtype);
  bias.requires_grad_();
}

Tensor LayerNorm::forward(const Tensor& x) const {
  if (x.dim() == 0 || x.size(-1) != dim) {
    throw ShapeError(
        fmt::format("LayerNorm: x is {}; its last axis must have size {}", x.shape().str(), dim));
  }
  return layer_norm(x, weight, bias, eps);
}

void LayerNorm::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
}

}  // namespace fovea
