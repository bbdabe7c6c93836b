#include "fovea/viz/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

/// 12000 as "12k", 0.5 as "0.5"; `decimals` as the step of the axis needs.
std::string write(double v, int decimals) {
  const double size = std::fabs(v);
  if (size >= 1e6 || (size > 0 && decimals > 4)) return fmt::format("{:.3g}", v);
  if (size >= 1e4 && std::fmod(size, 100) == 0) return fmt::format("{:g}k", v / 1000);
  return fmt::format("{:.{}f}", v, std::max(decimals, 0));
}

}  // namespace

std::vector<Tick> linear_ticks(double low, double high, int count) {
  std::vector<Tick> ticks;
  const double span = high - low;
  if (!(span > 0) || !std::isfinite(span) || count < 1) return ticks;
  const double rough = span / count;
  const int power = static_cast<int>(std::floor(std::log10(rough)));
  const double unit = std::pow(10, power), share = rough / unit;
  const double factor = share <= 1.5 ? 1 : share <= 3.5 ? 2 : share <= 7.5 ? 5 : 10;
  const double step = factor * unit;
  if (!(step > 0) || low + step == low || high - step == high) return ticks;  // below resolution
  const int decimals = -power - (factor == 10 ? 1 : 0);
  // Counted in whole steps: adding up would drift.
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) {
    const double v = i == 0 ? 0 : i * step;
    ticks.push_back({v, write(v, decimals)});
  }
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, int count) {
  std::vector<Tick> ticks;
  if (!(low > 0) || !(high >= low) || !std::isfinite(high) || count < 1) return ticks;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  const bool fine = last - first <= 3;
  const int stride = fine ? 1 : (last - first + count - 1) / count;
  for (int p = first; p <= last; p += stride) {
    for (const int factor : {1, 2, 5}) {
      const double v = factor * std::pow(10, p);
      if ((factor > 1 && !fine) || v < low * (1 - 1e-9) || v > high * (1 + 1e-9)) continue;
      ticks.push_back({v, p >= -4 && p < 4 ? fmt::format("{:g}", v) : fmt::format("{:.0e}", v)});
    }
  }
  return ticks;
}

}  // namespace fovea
