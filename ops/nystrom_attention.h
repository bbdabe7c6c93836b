// The inverse inside soft_attention_nystrom. Not public.
#pragma once

#include "fovea/ops/ops.h"

namespace fovea::detail {

/// The pseudo-inverse of a (..., L, L), symmetric and of no negative eigenvalue, by Newton's
/// method: V <- 2 V - V a V from V = a / |a|_1^2. An eigenvalue r times the largest takes about
/// 2 log2(1 / r) iterations; what is not reached by then counts less, and 0 stays 0. The gradient
/// is that of an inverse that was reached: -V' gV V'. Lu 2021, eq. 8, proposition 1 and theorem 1.
Tensor newton_inverse(const Tensor& a, int iterations);

}  // namespace fovea::detail
