#include "fovea/nn/position/angles.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea::detail {

Tensor clock_angles(const char* op, int64_t t, int64_t offset, int64_t n, int64_t dim,
                    double base) {
  if (t < 0 || offset < 0) {
    throw ValueError(fmt::format("{}: t is {}, offset is {}; numbers of tokens are not negative",
                                 op, t, offset));
  }
  const Tensor position = to(arange(offset, offset + t), f64);
  std::vector<double> speed(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    speed[static_cast<size_t>(i)] =
        std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(dim));
  }
  return reshape(position, {t, 1}) * from_vector(speed, {n});
}

void check_sequence(const char* op, const char* arg, const Tensor& x, int64_t dim) {
  if (x.defined() && x.dim() >= 2 && x.size(-1) == dim) return;
  throw ShapeError(fmt::format("{}: {} is {}; need (..., T, {})", op, arg,
                               x.defined() ? x.shape().str() : "undefined", dim));
}

}  // namespace fovea::detail
