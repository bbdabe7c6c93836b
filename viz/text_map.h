// A heat map for the terminal: rows of shade characters under the names of the columns.
//
//         k n i g h t
//      N [█]
//    AY1   [▓]░
//      T          [█]
//
// Widths follow a simple rule: combining marks and zero-width characters take no column, East Asian
// wide characters and emoji two, all others one. Joined emoji, and terminals with other ideas,
// may be off by a column.
#pragma once

#include <cstdint>
#include <string>

#include "fovea/viz/heat_map.h"

namespace fovea {

struct TextMapOptions {
  int64_t width = 100;  ///< of a line at most, in columns; at least 20
  bool ascii = false;   ///< shades " .:*#" instead of " ░▒▓█", and "..." for an ellipsis
  bool color = false;   ///< cells as 24-bit ANSI backgrounds, where the terminal has them
  double low = 0, high = 1;
};

/// Lines, each ended by a newline. A value is rounded to the nearest of five shades between low and
/// high, outside them to the nearer end; NaN is "?". Brackets stand around the largest value of
/// each row that exceeds low, the first of equals. Names of columns are written one letter a line
/// where they do not fit side by side. Columns that exceed the width are cut, and a last line, the
/// only one that may be longer, says how many; long names end in an ellipsis.
/// ValueError when the map is empty, when its sizes differ from its values or labels, when the
/// range is empty, when width is below 20.
std::string text_map(const HeatMap& map, const TextMapOptions& options = {});

}  // namespace fovea
