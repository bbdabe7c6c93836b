// Where the parts of a picture of heat maps stand, in pixels of the SVG.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/viz/heat_grid.h"
#include "fovea/viz/heat_map.h"

namespace fovea {

inline constexpr int64_t kHeatEdge = 16, kHeatLine = 18;  ///< of the picture; of a line of text
inline constexpr int64_t kLabelSpace = 6;                 ///< between a name and its cells
inline constexpr int64_t kLetterHeight = 12;              ///< rows of letters keep this distance
inline constexpr int64_t kBarWidth = 12, kBarHeight = 128;

/// One map with the room it takes: names to the left of and above its cells.
struct HeatBlock {
  HeatGrid grid;
  std::vector<std::string> row_labels, column_labels;  // as they are drawn
  bool upright = false;                                // names of columns
  int64_t left = 0, top = 0;                           // from its corner to that of its cells
  int64_t width = 0, height = 0;
  double low = 0, high = 1;  // of its colours
};

/// All maps, `x.size()` side by side, and the colour bar.
struct HeatLayout {
  std::vector<HeatBlock> blocks;
  int64_t cell = 1;
  bool titles = false;        // some map has one
  bool unknown = false;       // some value is NaN
  std::vector<int64_t> x, y;  // of the columns and rows of maps
  bool bar = false;
  int64_t bar_x = 0, bar_y = 0;
  int64_t width = 0, height = 0;
};

/// ValueError, beginning with `op`, as heat_map.h says.
HeatLayout lay_out_heat_maps(const std::vector<HeatMap>& maps, const HeatMapOptions& o,
                             const std::string& op);

}  // namespace fovea
