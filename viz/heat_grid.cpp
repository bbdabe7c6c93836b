#include "fovea/viz/heat_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/core/error.h"
#include "fovea/viz/utf8.h"

namespace fovea {

double HeatGrid::largest() const {
  double most = -INFINITY;
  for (double v : map->values) {
    if (std::isfinite(v)) most = std::max(most, v);
  }
  return most;
}

HeatGrid check_heat_map(const HeatMap& m, const std::string& what) {
  const auto count = [](const auto& v) { return static_cast<int64_t>(v.size()); };
  const HeatGrid g{&m, m.rows != 0 ? m.rows : count(m.row_labels),
                   m.columns != 0 ? m.columns : count(m.column_labels)};
  const auto fail = [&](const std::string& why) { throw ValueError(what + ": " + why); };
  if (g.rows < 1 || g.columns < 1) {
    fail(fmt::format("{} rows x {} columns; both must be positive, given or by labels", g.rows,
                     g.columns));
  }
  if (count(m.values) % g.rows != 0 || count(m.values) / g.rows != g.columns) {
    fail(fmt::format("{} values for {} rows x {} columns; give one for each cell", count(m.values),
                     g.rows, g.columns));
  }
  const auto check_labels = [&](const std::vector<std::string>& labels, int64_t n, const char* of) {
    if (labels.empty() || count(labels) == n) return;
    fail(fmt::format("{} labels for {} {}s; give none, or one for each", count(labels), n, of));
  };
  check_labels(m.row_labels, g.rows, "row");
  check_labels(m.column_labels, g.columns, "column");
  return g;
}

void check_heat_range(double low, double high, const std::string& what) {
  if (low < high && std::isfinite(high - low)) return;
  throw ValueError(
      fmt::format("{}: the range is {} to {}; need low < high, both finite", what, low, high));
}

double heat_share(double value, double low, double high) {
  return std::isnan(value) ? value : (std::clamp(value, low, high) - low) / (high - low);
}

std::vector<std::string> heat_labels(const std::vector<std::string>& labels, int64_t columns,
                                     std::string_view ellipsis) {
  std::vector<std::string> drawn;
  for (const std::string& s : labels) {
    drawn.push_back(cut_to_columns(visible_token(s), columns, ellipsis));
  }
  return drawn;
}

}  // namespace fovea
