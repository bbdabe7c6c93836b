// Functions that the standard library lacks, in long double.
#pragma once

#include <cmath>

namespace fovea::testing {

inline constexpr long double kSqrtHalf = 0.70710678118654752440084436210485L;

/// The normal distribution function.
inline long double phi(long double x) { return 0.5L * std::erfc(-x * kSqrtHalf); }
inline long double sigmoid(long double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

}  // namespace fovea::testing
