#include "fovea/nn/recurrent/gru_cell.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/nn/init.h"
#include "fovea/ops/ops.h"

namespace fovea {

GRUCell::GRUCell(const GRUCellOptions& o) {
  if (o.in < 1 || o.hidden < 1) {
    throw ValueError(
        fmt::format("GRUCell: in = {}, hidden = {}; widths are at least 1", o.in, o.hidden));
  }
  const double bound = 1 / std::sqrt(static_cast<double>(o.hidden));
  const auto parameter = [&](const Shape& shape) {
    const Tensor t = Tensor::empty(shape, o.dtype);
    init::uniform_(t, -bound, bound);
    return t.requires_grad_();
  };
  weight_ih = parameter({3 * o.hidden, o.in});
  weight_hh = parameter({3 * o.hidden, o.hidden});
  if (!o.bias) return;
  bias_ih = parameter({3 * o.hidden});
  bias_hh = parameter({3 * o.hidden});
}

Tensor GRUCell::forward(const Tensor& x, const Tensor& h) const {
  if (x.dim() != 2 || h.dim() != 2 || x.size(1) != in() || h.size(1) != hidden() ||
      x.size(0) != h.size(0)) {
    throw ShapeError(fmt::format("GRUCell: x is {}, h is {}; need (B, {}) and (B, {})",
                                 x.shape().str(), h.shape().str(), in(), hidden()));
  }
  const Tensors from_x = chunk(linear(x, weight_ih, bias_ih), 3, 1);
  const Tensors from_h = chunk(linear(h, weight_hh, bias_hh), 3, 1);
  const Tensor r = sigmoid(from_x[0] + from_h[0]);
  const Tensor z = sigmoid(from_x[1] + from_h[1]);
  const Tensor n = tanh(from_x[2] + r * from_h[2]);
  return n + z * (h - n);
}

void GRUCell::visit(Visitor& v) {
  v("weight_ih", weight_ih);
  v("weight_hh", weight_hh);
  v("bias_ih", bias_ih);
  v("bias_hh", bias_hh);
}

}  // namespace fovea
