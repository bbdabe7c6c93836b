#include "fovea/viz/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "fovea/core/error.h"
#include "fovea/viz/canvas.h"
#include "fovea/viz/color_map.h"
#include "fovea/viz/heat_layout.h"
#include "fovea/viz/ticks.h"

namespace fovea {
namespace {

constexpr Color kAxisInk{90, 99, 112}, kNameInk{31, 38, 48};
constexpr int64_t kSvgCells = 50'000, kLargestSide = 100'000, kLargestImage = 200'000'000;

double middle(int64_t from, int64_t length) {
  return static_cast<double>(from) + static_cast<double>(length) / 2;
}

/// One label in so many has room: 1, 2 or 5 times a power of ten.
int64_t label_step(int64_t cell) {
  for (int64_t power = 1;; power *= 10) {
    for (int64_t step : {power, 2 * power, 5 * power}) {
      if (step * cell >= kLetterHeight) return step;
    }
  }
}

void draw_labels(Canvas& canvas, const HeatBlock& b, const HeatMapOptions& o, int64_t cell,
                 int64_t x, int64_t y, bool titles) {
  const int64_t left = x + b.left, top = y + b.top;
  if (titles) {
    canvas.draw_line_of_text(static_cast<double>(left), static_cast<double>(y) + 6,
                             b.grid.map->title, {kNameInk, TextAnchor::start, true});
  }
  if (!o.column_axis.empty()) {
    canvas.draw_line_of_text(static_cast<double>(left),
                             static_cast<double>(y + (titles ? kHeatLine : 0)) + 6, o.column_axis,
                             {kAxisInk});
  }
  if (!o.row_axis.empty()) {
    canvas.draw_line_of_text(static_cast<double>(x) + 5, static_cast<double>(top), o.row_axis,
                             {kAxisInk, TextAnchor::end, false, true});
  }
  const int64_t step = label_step(cell);
  for (int64_t i = 0; i < static_cast<int64_t>(b.row_labels.size()); i += step) {
    canvas.draw_line_of_text(static_cast<double>(left - kLabelSpace), middle(top + i * cell, cell),
                             b.row_labels[static_cast<size_t>(i)], {kNameInk, TextAnchor::end});
  }
  for (int64_t j = 0; j < static_cast<int64_t>(b.column_labels.size()); j += step) {
    const TextAnchor anchor = b.upright ? TextAnchor::start : TextAnchor::middle;
    canvas.draw_line_of_text(
        middle(left + j * cell, cell), static_cast<double>(top - kLabelSpace - (b.upright ? 0 : 4)),
        b.column_labels[static_cast<size_t>(j)], {kNameInk, anchor, false, b.upright});
  }
}

void draw_cells(Canvas& canvas, const HeatBlock& b, int64_t cell, int64_t left, int64_t top) {
  const int64_t side = cell >= 8 ? cell - 1 : cell;  // a white line between large cells
  std::map<std::tuple<int, int, int>, std::vector<Area>> by_color;
  std::vector<Area> unknown;
  for (int64_t i = 0; i < b.grid.rows; ++i) {
    for (int64_t j = 0; j < b.grid.columns; ++j) {
      const Area area{left + j * cell, top + i * cell, side, side};
      const double share = heat_share(b.grid.at(i, j), b.low, b.high);
      const Color c = sequential_color(share);
      (std::isnan(share) ? unknown : by_color[{c.r, c.g, c.b}]).push_back(area);
    }
  }
  for (const auto& [rgb, areas] : by_color) {
    const auto [r, g, blue] = rgb;
    canvas.draw_areas(
        areas, {static_cast<uint8_t>(r), static_cast<uint8_t>(g), static_cast<uint8_t>(blue)});
  }
  canvas.draw_hatched(unknown);
}

/// The scale of colours with its ticks, high at the top, and a sample of what has no value.
void draw_bar(Canvas& canvas, const HeatLayout& l) {
  constexpr int64_t kStep = 2;
  const HeatBlock& b = l.blocks[0];
  for (int64_t y = 0; y < kBarHeight; y += kStep) {
    const double share = 1 - middle(y, kStep) / static_cast<double>(kBarHeight);
    canvas.draw_areas({{l.bar_x, l.bar_y + y, kBarWidth, kStep}}, sequential_color(share));
  }
  const auto beside = static_cast<double>(l.bar_x + kBarWidth + kLabelSpace);
  for (const Tick& t : linear_ticks(b.low, b.high, 4)) {
    const double down = (1 - heat_share(t.value, b.low, b.high)) * static_cast<double>(kBarHeight);
    canvas.draw_line_of_text(beside, static_cast<double>(l.bar_y) + std::round(down), t.text,
                             {kAxisInk});
  }
  if (!l.unknown) return;
  const int64_t y = l.bar_y + kBarHeight + kHeatLine;
  canvas.draw_hatched({{l.bar_x, y, kBarWidth, kBarWidth}});
  canvas.draw_line_of_text(beside, middle(y, kBarWidth), "NaN", {kAxisInk});
}

void draw(Canvas& canvas, const HeatLayout& l, const HeatMapOptions& o) {
  if (!o.title.empty()) {
    canvas.draw_line_of_text(static_cast<double>(kHeatEdge), static_cast<double>(kHeatEdge) + 4,
                             o.title, {kNameInk, TextAnchor::start, true});
  }
  for (size_t i = 0; i < l.blocks.size(); ++i) {
    const HeatBlock& b = l.blocks[i];
    const int64_t x = l.x[i % l.x.size()], y = l.y[i / l.x.size()];
    draw_labels(canvas, b, o, l.cell, x, y, l.titles);
    draw_cells(canvas, b, l.cell, x + b.left, y + b.top);
  }
  if (l.bar) draw_bar(canvas, l);
}

}  // namespace

std::string draw_heat_maps_svg(const std::vector<HeatMap>& maps, const HeatMapOptions& options) {
  const std::string op = "draw_heat_maps_svg";
  const HeatLayout l = lay_out_heat_maps(maps, options, op);
  int64_t cells = 0;
  for (const HeatBlock& b : l.blocks) cells += b.grid.rows * b.grid.columns;
  if (cells > kSvgCells || std::max(l.width, l.height) > kLargestSide) {
    throw ValueError(
        fmt::format("{}: {} cells on {} x {} pixels; an SVG holds {} cells on {} "
                    "pixels a side, use draw_heat_maps or fewer maps",
                    op, cells, l.width, l.height, kSvgCells, kLargestSide));
  }
  const std::string& name = !options.title.empty() ? options.title : maps[0].title;
  SvgCanvas canvas(l.width, l.height, name.empty() ? "Heat map" : name);
  draw(canvas, l, options);
  return canvas.finish();
}

Image draw_heat_maps(const std::vector<HeatMap>& maps, const HeatMapOptions& options,
                     int64_t zoom) {
  const std::string op = "draw_heat_maps";
  if (zoom < 1 || zoom > 8) throw ValueError(fmt::format("{}: zoom {}; need 1 to 8", op, zoom));
  const HeatLayout l = lay_out_heat_maps(maps, options, op);
  if (std::max(l.width, l.height) > kLargestSide / zoom ||
      l.width * l.height > kLargestImage / (zoom * zoom)) {
    throw ValueError(
        fmt::format("{}: a picture of {} x {} pixels; take smaller cells, a smaller "
                    "zoom or fewer maps",
                    op, l.width * zoom, l.height * zoom));
  }
  PixelCanvas canvas(l.width, l.height, zoom);
  draw(canvas, l, options);
  return canvas.finish();
}

}  // namespace fovea
