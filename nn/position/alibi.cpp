#include "fovea/nn/position/alibi.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/position/distance.h"
#include "fovea/ops/ops.h"

namespace fovea {

AlibiBias::AlibiBias(int64_t heads) : heads_(heads) {
  if (heads < 1) throw ValueError(fmt::format("AlibiBias: heads is {}; need at least 1", heads));
}

Tensor AlibiBias::slopes(DType dtype) const {
  return exp2(arange(1, heads_ + 1).to(dtype) * (-8.0 / static_cast<double>(heads_)));
}

Tensor AlibiBias::forward(int64_t tq, int64_t tk, DType dtype) const {
  const Tensor far = abs(distances(tq, tk)).to(dtype);
  return reshape(-slopes(dtype), {heads_, 1, 1}) * far;
}

}  // namespace fovea
