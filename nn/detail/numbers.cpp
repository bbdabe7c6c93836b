#include "fovea/nn/detail/numbers.h"

#include <fmt/format.h>

#include <cmath>

namespace fovea::detail {

void check_count(StateDiff& diff, const NamedTensors& given, const std::string& name) {
  const Tensor t = find(given, name);
  if (!t.defined() || t.dtype() != i64 || t.numel() != 1) return;
  const auto n = t.item<int64_t>();
  if (n >= 0 && n <= int64_t{1} << 53) return;
  diff.mismatched.push_back(fmt::format("{}: is {}, need a count from 0 to 2^53", name, n));
}

void check_rate(StateDiff& diff, const NamedTensors& given, const std::string& name) {
  const Tensor t = find(given, name);
  if (!t.defined() || t.dtype() != f64 || t.numel() != 1) return;
  const double x = t.item();
  if (x >= 0 && std::isfinite(x)) return;
  diff.mismatched.push_back(fmt::format("{}: is {}, need a finite number >= 0", name, x));
}

}  // namespace fovea::detail
