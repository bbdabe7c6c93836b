// How far tensors lie from each other and from 0.
#pragma once

#include <cmath>

#include "fovea/ops/ops.h"

namespace fovea::testing {

inline double worst(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item(); }
inline double deviation(const Tensor& x) { return std::sqrt(mean(square(x)).item()); }

}  // namespace fovea::testing
