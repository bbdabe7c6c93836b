// From uniform numbers to what is drawn with them. Not public.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fovea/core/tensor.h"

namespace fovea::detail {

/// The category that u in [0, 1) falls into, given the running sums of k weights, the last of which
/// is positive. The first sum above u times the total belongs to a positive weight: a weight of 0
/// repeats the sum before it. Where rounding leaves no such sum, the first that equals the total.
inline int64_t pick_category(const double* sums, int64_t k, double u) {
  const double total = sums[k - 1];
  const double* above = std::upper_bound(sums, sums + k, u * total);
  if (above == sums + k) above = std::lower_bound(sums, sums + k, total);
  return above - sums;
}

/// -log(-log u), f64, of u in [0, 1]: finite, with the ends taken as half a step of 53 bits from 0
/// and a whole one from 1.
Tensor gumbel_noise(const Tensor& u);

}  // namespace fovea::detail
