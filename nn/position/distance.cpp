#include "fovea/nn/position/distance.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {

Tensor distances(int64_t tq, int64_t tk) {
  if (tq < 0 || tk < 0) {
    throw ValueError(
        fmt::format("distances: tq is {}, tk is {}; numbers of tokens are not negative", tq, tk));
  }
  return arange(tk) - reshape(arange(tk - tq, tk), {tq, 1});
}

}  // namespace fovea
