// Runs a test body on every instruction set this binary carries and this processor has.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstdint>
#include <random>
#include <vector>

namespace fovea::testing {

template <class Body>
void on_every_target(Body body) {
  const int64_t all = static_cast<int64_t>(hwy::SupportedTargets()) & HWY_TARGETS;
  for (int64_t rest = all; rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    SCOPED_TRACE(hwy::TargetName(static_cast<decltype(HWY_TARGETS)>(target)));
    hwy::SetSupportedTargetsForTest(static_cast<decltype(HWY_TARGETS)>(target));
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Sizes around every vector width and unrolling, and a few odd longer ones.
inline std::vector<int64_t> odd_sizes(int64_t first = 0) {
  std::vector<int64_t> sizes;
  for (int64_t n = first; n <= 70; ++n) sizes.push_back(n);
  for (int64_t n : {127, 129, 255, 511, 1000, 2049, 4099}) sizes.push_back(n);
  return sizes;
}

template <class T>
std::vector<T> normal_values(int64_t n, uint32_t seed, T scale = 1) {
  std::mt19937 bits(seed);
  std::normal_distribution<double> normal;
  std::vector<T> values(static_cast<size_t>(n));
  for (T& v : values) v = static_cast<T>(normal(bits) * static_cast<double>(scale));
  return values;
}

// What a sum of T may be off, relative to the sum of sizes.
template <class T>
constexpr double tolerance() {
  return sizeof(T) == 4 ? 1e-6 : 1e-13;
}

}  // namespace fovea::testing
