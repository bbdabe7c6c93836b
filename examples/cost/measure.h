// How long one pass of attention takes, forward and backward, and how many bytes it holds at once.
#pragma once

#include <string>
#include <vector>

#include "examples/cost/methods.h"

namespace fovea::cost {

inline constexpr int64_t kFirstTokens = 128;

struct Limits {
  int64_t tokens = 16384;  ///< T = 128, 256, ... up to this
  double seconds = 20;     ///< of one pass
  double bytes = 2e9;      ///< of one pass
  int64_t repeats = 3;     ///< passes of which the median is taken
};

/// What one method costs, a number for each T that was measured.
struct Curve {
  std::vector<double> tokens;
  std::vector<double> seconds;  ///< median of the passes
  std::vector<double> bytes;    ///< peak over what was live before: saved, gradients and scratch
  std::string stopped = {};     ///< why it ends before the last T; empty when it does not
};

/// Doubles T while the next pass, foreseen from the last two, keeps to the limits. Each curve has
/// at least its first point.
Curve measure(const Method& method, const Sizes& sizes, const Limits& limits);

/// b of the power law y = a x^b: least squares of log y over log x, over the upper half of the
/// points, where the part that grows fastest has outgrown the rest. NaN for fewer than two.
double exponent(const std::vector<double>& x, const std::vector<double>& y);

/// The largest difference between two ways to compute the same function, as a part of its largest
/// element.
double difference(const Method& a, const Method& b, const Sizes& sizes, int64_t tokens);

}  // namespace fovea::cost
