#include "fovea/nn/position/rotary.h"

#include <fmt/format.h>

#include <numbers>

#include "fovea/core/error.h"
#include "fovea/nn/position/angles.h"

namespace fovea {

RotaryPositions::RotaryPositions(const RotaryPositionsOptions& o) : o_(o) {
  if (o.dim < 0 || o.dim % 2 != 0 || !(o.base > 0)) {
    throw ValueError(fmt::format(
        "RotaryPositions: dim is {}, base is {}; need an even dim and base > 0", o.dim, o.base));
  }
}

Tensor RotaryPositions::angles(int64_t t, int64_t offset, DType dtype) const {
  const Tensor all =
      detail::clock_angles("RotaryPositions", t, offset, o_.dim / 2, o_.dim, o_.base);
  constexpr double kTurn = 2 * std::numbers::pi;
  return (all - round(all * (1 / kTurn)) * kTurn).to(dtype);
}

Tensor RotaryPositions::forward(const Tensor& x, int64_t offset) const {
  detail::check_sequence("RotaryPositions", "x", x, o_.dim);
  return rope(x, angles(x.size(-2), offset, x.dtype()), o_.pairing);
}

Rotated RotaryPositions::operator()(const Tensor& q, const Tensor& k, int64_t offset) const {
  detail::check_sequence("RotaryPositions", "q", q, o_.dim);
  detail::check_sequence("RotaryPositions", "k", k, o_.dim);
  const int64_t tq = q.size(-2), tk = k.size(-2);
  if (offset + tk - tq < 0) {
    throw ShapeError(
        fmt::format("RotaryPositions: q is {}, k is {}, offset is {}; the last query stands at the "
                    "last key, so "
                    "the first would stand before position 0",
                    q.shape().str(), k.shape().str(), offset));
  }
  if (tq == tk && q.dtype() == k.dtype()) {
    const Tensor angle = angles(tk, offset, k.dtype());
    return {rope(q, angle, o_.pairing), rope(k, angle, o_.pairing)};
  }
  return {forward(q, offset + tk - tq), forward(k, offset)};
}

}  // namespace fovea
