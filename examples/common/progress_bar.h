// How a long run shows that it is alive, and when it will end.
//
// On a terminal, one line that is redrawn ten times a second:
//
//     epoch 3/25 [=====>             ] 28 %  loss 0.412  accuracy 91.3 %  0:08, 0:21 left
//
// Elsewhere, the same as a plain line twice a minute.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace fovea::examples {

class ProgressBar {
 public:
  /// total: units of work in the whole run; done: how many an earlier run has finished.
  ProgressBar(int64_t total, int64_t done, bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Whether update() would draw now; formatting the text for nothing costs time.
  bool due() const;
  void update(int64_t done, const std::string& label, const std::string& text);
  /// Prints a line that stays.
  void line(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  void erase();

  int64_t total_, first_;
  bool quiet_, terminal_, drawn_ = false;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

/// Seconds as 4:05, or 1:02:09.
std::string clock_text(double seconds);

}  // namespace fovea::examples
