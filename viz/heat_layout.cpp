#include "fovea/viz/heat_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/core/error.h"
#include "fovea/viz/canvas.h"

namespace fovea {
namespace {

constexpr int64_t kBetweenMaps = 24, kBarRoom = kBarWidth + 46, kLabelColumns = 20;
constexpr int64_t kLargestCell = 24, kWantedMap = 640, kWantedWidth = 1100;

int64_t widest(const std::vector<std::string>& labels) {
  int64_t most = 0;
  for (const std::string& s : labels) most = std::max(most, text_room(s));
  return most;
}

HeatBlock block_of(const HeatGrid& grid, const HeatMapOptions& o, int64_t cell, bool titles) {
  HeatBlock b;
  b.grid = grid;
  b.row_labels = heat_labels(grid.map->row_labels, kLabelColumns, "...");
  b.column_labels = heat_labels(grid.map->column_labels, kLabelColumns, "...");
  const int64_t longest = widest(b.column_labels);
  b.upright = longest > cell - 2;
  b.left = (o.row_axis.empty() ? 0 : kHeatLine) +
           (b.row_labels.empty() ? 0 : widest(b.row_labels) + kLabelSpace);
  b.top = (titles ? kHeatLine : 0) + (o.column_axis.empty() ? 0 : kHeatLine) +
          (b.column_labels.empty() ? 0 : (b.upright ? longest : kLetterHeight) + kLabelSpace);
  b.width = std::max(b.left + grid.columns * cell, titles ? text_room(grid.map->title) : 0);
  b.height = b.top + grid.rows * cell;
  return b;
}

void set_ranges(std::vector<HeatBlock>& blocks, const HeatMapOptions& o, const std::string& op) {
  double shared = -INFINITY;
  for (const HeatBlock& b : blocks) shared = std::max(shared, b.grid.largest());
  for (HeatBlock& b : blocks) {
    const double most = o.range == HeatRange::each ? b.grid.largest() : shared;
    b.low = o.low;
    b.high = o.range == HeatRange::fixed ? o.high : most > o.low ? most : o.low + 1;
    check_heat_range(b.low, b.high, op);
  }
}

/// Cells for which up to four maps stand side by side; but names are worth their room.
int64_t choose_cell(const std::vector<HeatGrid>& grids, int64_t maps_per_row) {
  int64_t side = 1;
  bool named = false;
  for (const HeatGrid& g : grids) {
    side = std::max({side, g.rows, g.columns});
    named = named || !g.map->row_labels.empty() || !g.map->column_labels.empty();
  }
  const int64_t beside =
      std::min<int64_t>(maps_per_row > 0 ? maps_per_row : 4, static_cast<int64_t>(grids.size()));
  const int64_t wanted = std::min(kWantedMap, kWantedWidth / beside - kBetweenMaps);
  const int64_t least = named ? std::min(kLetterHeight, kWantedMap / side) : 1;
  return std::clamp(std::max(least, wanted / side), int64_t{1}, kLargestCell);
}

void check_options(const HeatMapOptions& o, const std::string& op) {
  if (o.cell < 0 || o.cell > 200 || o.maps_per_row < 0) {
    throw ValueError(
        fmt::format("{}: cell {}, maps_per_row {}; cell is 0 to 200, maps_per_row 0 "
                    "or more",
                    op, o.cell, o.maps_per_row));
  }
}

}  // namespace

HeatLayout lay_out_heat_maps(const std::vector<HeatMap>& maps, const HeatMapOptions& o,
                             const std::string& op) {
  check_options(o, op);
  if (maps.empty()) throw ValueError(op + ": there is no map to draw");
  std::vector<HeatGrid> grids;
  HeatLayout l;
  for (const HeatMap& m : maps) {
    grids.push_back(check_heat_map(m, fmt::format("{}: map {}", op, grids.size())));
    l.titles = l.titles || !m.title.empty();
    l.unknown = l.unknown || std::any_of(m.values.begin(), m.values.end(),
                                         [](double v) { return std::isnan(v); });
  }
  l.cell = o.cell > 0 ? o.cell : choose_cell(grids, o.maps_per_row);
  int64_t width = 0;
  for (const HeatGrid& g : grids) {
    l.blocks.push_back(block_of(g, o, l.cell, l.titles));
    width = std::max(width, l.blocks.back().width);
  }
  set_ranges(l.blocks, o, op);
  const auto count = static_cast<int64_t>(maps.size());
  const int64_t fitting = std::max<int64_t>(1, kWantedWidth / (width + kBetweenMaps));
  const int64_t per_row = std::min(count, o.maps_per_row > 0 ? o.maps_per_row : fitting);
  l.bar = o.bar && o.range != HeatRange::each;

  std::vector<int64_t> widths(static_cast<size_t>(per_row));
  std::vector<int64_t> heights(static_cast<size_t>((count + per_row - 1) / per_row));
  for (int64_t i = 0; i < count; ++i) {
    const HeatBlock& b = l.blocks[static_cast<size_t>(i)];
    int64_t& w = widths[static_cast<size_t>(i % per_row)];
    int64_t& h = heights[static_cast<size_t>(i / per_row)];
    w = std::max(w, b.width);
    h = std::max(h, b.height);
  }
  l.width = kHeatEdge;
  for (int64_t w : widths) {
    l.x.push_back(l.width);
    l.width += w + kBetweenMaps;
  }
  l.bar_x = l.width;
  l.width += l.bar ? kBarRoom : kHeatEdge - kBetweenMaps;
  l.width = std::max(l.width, 2 * kHeatEdge + text_room(o.title));
  l.height = kHeatEdge + (o.title.empty() ? 0 : kHeatLine + kLabelSpace);
  for (int64_t h : heights) {
    l.y.push_back(l.height);
    l.height += h + kBetweenMaps;
  }
  l.height += kHeatEdge - kBetweenMaps;
  l.bar_y = l.y[0] + l.blocks[0].top;
  if (l.bar) {
    l.height =
        std::max(l.height, l.bar_y + kBarHeight + (l.unknown ? 2 * kHeatLine : 0) + kHeatEdge);
  }
  return l;
}

}  // namespace fovea
