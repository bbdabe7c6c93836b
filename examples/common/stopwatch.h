// Wall-clock time in pieces.
#pragma once

#include <chrono>
#include <utility>

namespace fovea::examples {

class Stopwatch {
 public:
  /// Seconds since the last call, or since the start.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace fovea::examples
