#include "fovea/nn/position/learned.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/position/angles.h"
#include "fovea/ops/ops.h"

namespace fovea {

LearnedPositions::LearnedPositions(const LearnedPositionsOptions& o)
    : table({.count = o.max_len, .dim = o.dim, .dtype = o.dtype}) {}

Tensor LearnedPositions::forward(const Tensor& x, int64_t offset) const {
  detail::check_sequence("LearnedPositions", "x", x, table.weight.size(1));
  const int64_t t = x.size(-2), max_len = table.weight.size(0);
  if (offset < 0) {
    throw ValueError(fmt::format(
        "LearnedPositions: offset is {}; the number of tokens before is not negative", offset));
  }
  if (offset + t > max_len) {
    throw IndexError(
        fmt::format("LearnedPositions: x is {}, offset is {}; token {} stands beyond max_len = {}: "
                    "cut the sequence, or make the table longer",
                    x.shape().str(), offset, offset + t - 1, max_len));
  }
  return x + narrow(table.weight, 0, offset, t);
}

}  // namespace fovea
