#include "fovea/nn/dropout.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {

Dropout::Dropout(double p) : p(p) {
  if (!(p >= 0 && p <= 1)) {
    throw ValueError(fmt::format("Dropout: p = {}; a probability lies in [0, 1]", p));
  }
}

Tensor Dropout::forward(const Tensor& x) const { return dropout(x, p, training); }

}  // namespace fovea
