// What every drawing of a heat map asks of it first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/viz/heat_map.h"

namespace fovea {

/// A heat map whose sizes are known to fit.
struct HeatGrid {
  const HeatMap* map = nullptr;
  int64_t rows = 0, columns = 0;

  double at(int64_t row, int64_t column) const {
    return map->values[static_cast<size_t>(row * columns + column)];
  }
  /// The largest finite value; -infinity when there is none.
  double largest() const;
};

/// ValueError, beginning with `what`, when the map is empty or sizes, values and labels differ.
HeatGrid check_heat_map(const HeatMap& map, const std::string& what);

/// ValueError unless low < high and both are finite.
void check_heat_range(double low, double high, const std::string& what);

/// Where a value stands between low and high, in [0, 1]; NaN stays NaN.
double heat_share(double value, double low, double high);

/// Labels as they are drawn: visible (utf8.h) and at most `columns` wide.
std::vector<std::string> heat_labels(const std::vector<std::string>& labels, int64_t columns,
                                     std::string_view ellipsis);

}  // namespace fovea
