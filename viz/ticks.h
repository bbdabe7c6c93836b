// Where the marks of an axis stand, and how they are written.
#pragma once

#include <string>
#include <vector>

namespace fovea {

struct Tick {
  double value = 0;
  std::string text;
};

/// Multiples of 1, 2 or 5 times a power of ten inside [low, high], about `count` of them. An empty
/// or not finite range gives none.
std::vector<Tick> linear_ticks(double low, double high, int count);

/// Powers of ten inside [low, high], thinned out to about `count`; with 2 and 5 times a power of
/// ten where the range holds fewer than three. Both ends must be positive.
std::vector<Tick> log_ticks(double low, double high, int count);

}  // namespace fovea
