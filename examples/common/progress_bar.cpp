#include "examples/common/progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace fovea::examples {
namespace {

size_t terminal_width() {
  winsize w = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col >= 20 ? w.ws_col : 80;
}

double seconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

std::string clock_text(double s) {
  const auto n = static_cast<int64_t>(std::max(0.0, s) + 0.5);
  return n < 3600 ? fmt::format("{}:{:02}", n / 60, n % 60)
                  : fmt::format("{}:{:02}:{:02}", n / 3600, n / 60 % 60, n % 60);
}

ProgressBar::ProgressBar(int64_t total, int64_t done, bool quiet)
    : total_(std::max<int64_t>(total, 1)),
      first_(done),
      quiet_(quiet),
      terminal_(isatty(STDOUT_FILENO) != 0) {}

ProgressBar::~ProgressBar() { erase(); }

bool ProgressBar::due() const {
  return !quiet_ && seconds(Clock::now() - last_) >= (terminal_ ? 0.1 : 30);
}

void ProgressBar::update(int64_t done, const std::string& label, const std::string& text) {
  if (quiet_) return;
  last_ = Clock::now();
  const double elapsed = seconds(last_ - start_);
  const double share =
      std::clamp(static_cast<double>(done) / static_cast<double>(total_), 0.0, 1.0);
  // What an earlier run did says nothing about the speed of this one.
  const double ours = static_cast<double>(std::max<int64_t>(done - first_, 1));
  const double left = elapsed * static_cast<double>(std::max<int64_t>(total_ - done, 0)) / ours;
  const std::string tail = fmt::format(" {:2.0f} %  {}  {}, {} left", share * 100, text,
                                       clock_text(elapsed), clock_text(left));
  if (!terminal_) {
    fmt::print("{}{}\n", label, tail);
    std::fflush(stdout);
    return;
  }
  const size_t width = terminal_width() - 1, used = label.size() + tail.size() + 3;
  std::string out = label;
  if (used + 8 <= width) {
    const size_t cells = std::min<size_t>(width - used, 30);
    const auto full = static_cast<size_t>(share * static_cast<double>(cells));
    std::string bar(cells, ' ');
    std::fill_n(bar.begin(), full, '=');
    if (full < cells) bar[full] = '>';
    out += fmt::format(" [{}]", bar);
  }
  out += tail;
  fmt::print("\r{}\x1b[K", out.substr(0, width));
  std::fflush(stdout);
  drawn_ = true;
}

void ProgressBar::line(const std::string& text) {
  if (quiet_) return;
  erase();
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void ProgressBar::erase() {
  if (drawn_) fmt::print("\r\x1b[K");
  drawn_ = false;
}

}  // namespace fovea::examples
