#include "fovea/nn/transformer/feed_forward.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

// The width between, checked.
int64_t width(const char* layer, int64_t d_model, int64_t d_ff, int64_t usual) {
  if (d_model >= 1 && d_ff >= 0) return d_ff == 0 ? usual : d_ff;
  throw ValueError(
      fmt::format("{}: d_model is {}, d_ff is {}; widths are at least 1", layer, d_model, d_ff));
}

}  // namespace

Tensor activate(Activation a, const Tensor& x) {
  switch (a) {
    case Activation::relu:
      return relu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::silu:
      return silu(x);
  }
  throw ValueError("activate: there is no such activation");
}

MLP::MLP(const MLPOptions& o)
    : up({.in = o.d_model,
          .out = width("MLP", o.d_model, o.d_ff, 4 * o.d_model),
          .bias = o.bias,
          .dtype = o.dtype}),
      down({.in = up.out(), .out = o.d_model, .bias = o.bias, .dtype = o.dtype}),
      dropout(o.dropout),
      activation(o.activation) {}

Tensor MLP::forward(const Tensor& x) const { return down(dropout(activate(activation, up(x)))); }

void MLP::visit(Visitor& v) {
  v("up", up);
  v("down", down);
  v("dropout", dropout);
}

SwiGLU::SwiGLU(const SwiGLUOptions& o)
    : gate({.in = o.d_model,
            .out = width("SwiGLU", o.d_model, o.d_ff, (8 * o.d_model + 2) / 3),
            .bias = o.bias,
            .dtype = o.dtype}),
      up({.in = o.d_model, .out = gate.out(), .bias = o.bias, .dtype = o.dtype}),
      down({.in = gate.out(), .out = o.d_model, .bias = o.bias, .dtype = o.dtype}) {}

Tensor SwiGLU::forward(const Tensor& x) const { return down(silu(gate(x)) * up(x)); }

void SwiGLU::visit(Visitor& v) {
  v("gate", gate);
  v("up", up);
  v("down", down);
}

}  // namespace fovea
