// Tables of numbers as pictures: attention weights, one map a head or an example.
//
// Light is low and dark is high, in one hue whose lightness falls evenly (color_map.h), on a white
// ground that reads on light and dark pages. NaN is a hatched grey cell; values outside the range,
// infinities among them, take the colour of its nearer end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/viz/image.h"

namespace fovea {

struct HeatMap {
  std::string title = {};
  std::vector<double> values = {};  ///< (rows, columns), row-major; for attention (Tq, Tk)
  std::vector<std::string> row_labels = {}, column_labels = {};  ///< UTF-8; none, or one for each
  int64_t rows = 0, columns = 0;                                 ///< 0: as many as there are labels
};

/// The values that the two ends of the colour scale stand for.
enum class HeatRange {
  fixed,   ///< from low to high of the options
  shared,  ///< from low to the largest value of all maps
  each     ///< from low to the largest value of the map: maps can not be compared by colour
};

struct HeatMapOptions {
  std::string title = {};                       ///< above all maps
  std::string row_axis = {}, column_axis = {};  ///< what rows and columns are, as "output", "input"
  int64_t maps_per_row = 0;                     ///< 0: as many as look well
  int64_t cell = 0;  ///< side of a cell in pixels, 1 to 200; 0: 24 or less, by size and number
  HeatRange range = HeatRange::fixed;
  double low = 0, high = 1;
  bool bar = true;  ///< the colour scale at the right; not drawn for each
};

/// A self-contained SVG. Names of columns stand upright where they do not fit their cells, long
/// ones are cut with "...", and where cells are smaller than letters some are left out.
/// ValueError when there is no map, when a map is empty, when its sizes differ from its values or
/// labels, when the range is empty or not finite, and when the picture becomes too large: above
/// 50,000 cells together, which make megabytes of SVG where draw_heat_maps does well, or above
/// 100,000 pixels a side.
std::string draw_heat_maps_svg(const std::vector<HeatMap>& maps,
                               const HeatMapOptions& options = {});

/// The same picture for write_png, `zoom` (1 to 8) picture pixels for one of the SVG. Letters
/// outside ASCII and Latin-1 are drawn as a box (font.h). ValueError as above, but that the limit
/// is 200 million pixels, not cells: a map of 1000 x 1000 makes a picture of 2000 x 2000.
Image draw_heat_maps(const std::vector<HeatMap>& maps, const HeatMapOptions& options = {},
                     int64_t zoom = 2);

}  // namespace fovea
