#include "fovea/nn/position/sinusoidal.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/position/angles.h"
#include "fovea/ops/ops.h"

namespace fovea {

SinusoidalPositions::SinusoidalPositions(const SinusoidalPositionsOptions& o) : o_(o) {
  if (o.dim < 0 || !(o.base > 0)) {
    throw ValueError(
        fmt::format("SinusoidalPositions: dim is {}, base is {}; need dim >= 0 and "
                    "base > 0",
                    o.dim, o.base));
  }
}

Tensor SinusoidalPositions::table(int64_t t, int64_t offset, DType dtype) const {
  const int64_t pairs = (o_.dim + 1) / 2;
  const Tensor angle =
      detail::clock_angles("SinusoidalPositions", t, offset, pairs, o_.dim, o_.base);
  const Tensor both = reshape(stack({sin(angle), cos(angle)}, -1), {t, 2 * pairs});
  return narrow(both, 1, 0, o_.dim).to(dtype);  // of an odd width, without the last cosine
}

Tensor SinusoidalPositions::forward(const Tensor& x, int64_t offset) const {
  detail::check_sequence("SinusoidalPositions", "x", x, o_.dim);
  return x + table(x.size(-2), offset, x.dtype());
}

}  // namespace fovea
