#include "fovea/nn/linear.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/nn/init.h"
#include "fovea/ops/ops.h"

namespace fovea {

Linear::Linear(const LinearOptions& o) {
  if (o.in < 0 || o.out < 0) {
    throw ValueError(
        fmt::format("Linear: in = {}, out = {}; widths are not negative", o.in, o.out));
  }
  weight = Tensor::empty({o.out, o.in}, o.dtype);
  // kaiming_uniform_ with a = sqrt(5) gives the bound sqrt(6 / (6 in)).
  init::kaiming_uniform_(weight, {.a = std::sqrt(5.0)});
  weight.requires_grad_();
  if (!o.bias) return;
  const double bound = o.in > 0 ? 1 / std::sqrt(static_cast<double>(o.in)) : 0;
  bias = Tensor::empty({o.out}, o.dtype);
  init::uniform_(bias, -bound, bound);
  bias.requires_grad_();
}

Tensor Linear::forward(const Tensor& x) const { return linear(x, weight, bias); }

void Linear::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
}

}  // namespace fovea
