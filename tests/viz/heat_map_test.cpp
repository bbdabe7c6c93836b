#include "fovea/viz/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/viz/color_map.h"
#include "viz/markup.h"

namespace {

using namespace fovea;
using fovea::testing::expect_well_formed;
using fovea::testing::occurrences;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kEdge = 16, kCell = 24;  // of a small map without names

HeatMap one_hot(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  HeatMap m{"", std::vector<double>(static_cast<size_t>(rows * columns)), {}, {}, rows, columns};
  m.values[static_cast<size_t>(row * columns + column)] = 1;
  return m;
}

/// The middle of a cell of the first map, in the picture without names at zoom 1.
Color cell_of(const Image& image, int64_t row, int64_t column) {
  return image.at(kEdge + column * kCell + 11, kEdge + row * kCell + 5);
}

std::string heat_message(const std::vector<HeatMap>& maps, const HeatMapOptions& o = {},
                         int64_t zoom = 1) {
  std::string svg = "no error", png = "no error";
  try {
    (void)draw_heat_maps_svg(maps, o);
  } catch (const ValueError& e) {
    svg = e.what();
  }
  try {
    (void)draw_heat_maps(maps, o, zoom);
  } catch (const ValueError& e) {
    png = e.what();
  }
  return svg + " | " + png;
}

/// Oklab's lightness of a colour (Ottosson 2020).
double lightness(Color c) {
  const auto linear = [](uint8_t v) {
    const double x = v / 255.0;
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  const double r = linear(c.r), g = linear(c.g), b = linear(c.b);
  return 0.2104542553 * std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) +
         0.7936177850 * std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) -
         0.0040720468 * std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
}

TEST(ColorMap, FallsEvenlyInOneHue) {
  const double top = lightness(sequential_color(0)), bottom = lightness(sequential_color(1));
  EXPECT_GT(top, 0.95);
  EXPECT_LT(bottom, 0.35);
  for (int i = 0; i <= 50; ++i) {
    const Color c = sequential_color(i / 50.0);
    EXPECT_NEAR(lightness(c), top + (bottom - top) * i / 50, 0.004) << i;
    EXPECT_LT(c.r, c.g) << i;
    EXPECT_LT(c.g, c.b) << i;
    EXPECT_GT(c.r, 0) << i;  // no channel is cut off
    EXPECT_LT(c.b, 255) << i;
  }
  EXPECT_EQ(sequential_color(-3), sequential_color(0));
  EXPECT_EQ(sequential_color(NAN), sequential_color(0));
  EXPECT_EQ(sequential_color(INFINITY), sequential_color(1));
}

TEST(HeatMap, ColoursEachCellByItsValue) {
  const Image image = draw_heat_maps({one_hot(2, 4, 1, 2)}, {.bar = false}, 1);
  EXPECT_EQ(image.width, 2 * kEdge + 4 * kCell);
  EXPECT_EQ(image.height, 2 * kEdge + 2 * kCell);
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      EXPECT_EQ(cell_of(image, i, j), sequential_color(i == 1 && j == 2 ? 1 : 0)) << i << j;
    }
  }
  EXPECT_EQ(image.at(kEdge + kCell - 1, kEdge), (Color{255, 255, 255}));  // between cells
  const Image twice = draw_heat_maps({one_hot(2, 4, 1, 2)}, {.bar = false});
  EXPECT_EQ(twice.width, 2 * image.width);
  EXPECT_EQ(twice.at(2 * (kEdge + 2 * kCell), 2 * (kEdge + kCell)), sequential_color(1));
}

TEST(HeatMap, DrawsTheSameCellsAsSvg) {
  const std::string svg = draw_heat_maps_svg({one_hot(2, 4, 1, 2)}, {.bar = false});
  expect_well_formed(svg);
  const Color c = sequential_color(1);
  char fill[16];
  std::snprintf(fill, sizeof(fill), "#%02X%02X%02X", c.r, c.g, c.b);
  EXPECT_THAT(svg, HasSubstr(std::string("<path fill=\"") + fill + "\" d=\"M64 40h23v23h-23z\""));
  EXPECT_EQ(occurrences(svg, "h23v23"), 8u);
}

TEST(HeatMap, ClampsValuesAndHatchesNaN) {
  const HeatMap m{"", {-5, -INFINITY, 7, INFINITY, NAN, 0.5}, {}, {}, 1, 6};
  const Image image = draw_heat_maps({m}, {.bar = false}, 1);
  EXPECT_EQ(cell_of(image, 0, 0), sequential_color(0));
  EXPECT_EQ(cell_of(image, 0, 1), sequential_color(0));
  EXPECT_EQ(cell_of(image, 0, 2), sequential_color(1));
  EXPECT_EQ(cell_of(image, 0, 3), sequential_color(1));
  EXPECT_EQ(cell_of(image, 0, 5), sequential_color(0.5));
  const Color ground = cell_of(image, 0, 4);  // grey, which no value is
  EXPECT_LT(std::abs(ground.r - ground.b), 12);
  EXPECT_LT(ground.r, 235);
  int lines = 0;
  for (int64_t x = 0; x < kCell - 1; ++x) {
    lines += image.at(kEdge + 4 * kCell + x, kEdge + 11).r < 180;
  }
  EXPECT_GE(lines, 2);
  const std::string svg = draw_heat_maps_svg({m});
  expect_well_formed(svg);
  EXPECT_THAT(svg, HasSubstr(">NaN</text>"));
  EXPECT_THAT(draw_heat_maps_svg({one_hot(1, 2, 0, 0)}), Not(HasSubstr("NaN")));
}

TEST(HeatMap, TakesItsRangeFromTheOptions) {
  const HeatMap weak{"", {0, 0.25}, {}, {}, 1, 2}, strong{"", {0, 4}, {}, {}, 1, 2};
  const auto colors = [&](const HeatMapOptions& o) {
    const Image image = draw_heat_maps({weak, strong}, o, 1);
    const int64_t next = kEdge + 2 * kCell + 24 + kCell + 11;  // the second cell of the second map
    return std::pair{cell_of(image, 0, 1), image.at(next, kEdge + 5)};
  };
  EXPECT_EQ(colors({}), (std::pair{sequential_color(0.25), sequential_color(1)}));
  EXPECT_EQ(colors({.low = -1, .high = 9}),
            (std::pair{sequential_color(0.125), sequential_color(0.5)}));
  EXPECT_EQ(colors({.range = HeatRange::shared}),
            (std::pair{sequential_color(0.0625), sequential_color(1)}));
  EXPECT_EQ(colors({.range = HeatRange::each}),
            (std::pair{sequential_color(1), sequential_color(1)}));
  EXPECT_THAT(draw_heat_maps_svg({strong}, {.range = HeatRange::shared}), HasSubstr(">4</text>"));
  const HeatMap none{"", {NAN, -INFINITY}, {}, {}, 1, 2};
  expect_well_formed(draw_heat_maps_svg({none}, {.range = HeatRange::shared}));
}

TEST(HeatMap, NamesRowsAndColumns) {
  HeatMap m = one_hot(2, 3, 0, 0);
  m.row_labels = {"N", "\u00e9t\u00e9"};
  m.column_labels = {"a", "b", " "};
  m.title = "head 1";
  const HeatMapOptions o{.title = "Run", .row_axis = "output", .column_axis = "input"};
  std::string svg = draw_heat_maps_svg({m}, o);
  expect_well_formed(svg);
  for (const char* part : {">N<", ">\u00e9t\u00e9<", ">a<", ">b<", ">\u2423<", ">head 1<",
                           ">output<", ">input<", "<title>Run</title>"}) {
    EXPECT_THAT(svg, HasSubstr(part));
  }
  EXPECT_EQ(occurrences(svg, "rotate(-90"), 1u) << "the name of the axis alone stands upright";
  m.column_labels = {"agreement", "b", "a word that is much too long to be shown"};
  svg = draw_heat_maps_svg({m}, o);
  EXPECT_EQ(occurrences(svg, "rotate(-90"), 4u);
  EXPECT_THAT(svg, HasSubstr(">a word that is mu...<"));
  EXPECT_GT(draw_heat_maps({m}, o).width, draw_heat_maps({one_hot(2, 3, 0, 0)}).width);
}

TEST(HeatMap, LeavesOutNamesThatHaveNoRoom) {
  HeatMap m = one_hot(100, 3, 0, 0);  // cells of 6 pixels: every second name
  for (int i = 0; i < 100; ++i) m.row_labels.push_back("r" + std::to_string(i));
  const std::string svg = draw_heat_maps_svg({m});
  EXPECT_EQ(occurrences(svg, ">r"), 50u);
  EXPECT_THAT(svg, HasSubstr(">r98<"));
}

TEST(HeatMap, EscapesEveryText) {
  HeatMap m = one_hot(1, 2, 0, 0);
  m.title = "<script>&\"'";
  m.row_labels = {"]]>\x01\xff"};
  m.column_labels = {"</svg>", ""};
  expect_well_formed(
      draw_heat_maps_svg({m, m}, {.title = "<&>", .row_axis = "\"", .column_axis = "'"}));
}

TEST(HeatMap, LaysMapsOutInRows) {
  const HeatMapOptions o{.maps_per_row = 3, .bar = false};
  const Image image = draw_heat_maps(std::vector<HeatMap>(7, one_hot(2, 2, 0, 0)), o, 1);
  EXPECT_EQ(image.width, 2 * kEdge + 3 * 2 * kCell + 2 * 24);
  EXPECT_EQ(image.height, 2 * kEdge + 3 * 2 * kCell + 2 * 24);
  EXPECT_EQ(image.at(kEdge + 2 * (2 * kCell + 24), kEdge + 2 * kCell + 24), sequential_color(1));
  EXPECT_EQ(image.at(kEdge + 2 * kCell + 24, kEdge + 2 * (2 * kCell + 24)), (Color{255, 255, 255}));
}

TEST(HeatMap, MakesCellsSmallerForManyMaps) {
  HeatMap m = one_hot(50, 50, 0, 0);
  const HeatMapOptions o{.bar = false};
  EXPECT_EQ(draw_heat_maps({m}, o, 1).width, 2 * kEdge + 50 * 12);
  EXPECT_EQ(draw_heat_maps({m, m, m, m, m}, o, 1).width, 2 * kEdge + 4 * 50 * 5 + 3 * 24);
  m.row_labels.resize(50);  // names are read from 12 pixels on: fewer maps side by side
  EXPECT_GT(draw_heat_maps({m, m, m, m, m}, o, 1).height, 5 * 50 * 12);
}

TEST(HeatMap, KeepsLargeMapsToASensibleSize) {
  const HeatMap m = one_hot(1000, 1000, 999, 999);
  const Image image = draw_heat_maps({m}, {.bar = false});
  EXPECT_EQ(image.width, 2 * (1000 + 2 * kEdge));
  EXPECT_EQ(image.at(2 * (kEdge + 999) + 1, 2 * (kEdge + 999) + 1), sequential_color(1));
  EXPECT_THAT(heat_message({m}),
              HasSubstr("1000000 cells on 1098 x 1032 pixels; an SVG holds 50000"));
  EXPECT_LT(draw_heat_maps_svg({one_hot(220, 220, 0, 0)}).size(), 1'200'000u);
}

TEST(HeatMap, SaysWhatIsWrong) {
  EXPECT_THAT(heat_message({}), HasSubstr("draw_heat_maps_svg: there is no map"));
  EXPECT_THAT(heat_message({}), HasSubstr("draw_heat_maps: there is no map"));
  const HeatMap good = one_hot(2, 3, 0, 0);
  HeatMap m = good;
  m.values.pop_back();
  EXPECT_THAT(heat_message({good, m}), HasSubstr("map 1: 5 values for 2 rows x 3 columns"));
  m = good;
  m.row_labels = {"a"};
  EXPECT_THAT(heat_message({m}), HasSubstr("map 0: 1 labels for 2 rows"));
  m = good;
  m.column_labels = {"a", "b", "c", "d"};
  EXPECT_THAT(heat_message({m}), HasSubstr("map 0: 4 labels for 3 columns"));
  EXPECT_THAT(heat_message({HeatMap{}}), HasSubstr("map 0: 0 rows x 0 columns"));
  m.rows = -1;
  EXPECT_THAT(heat_message({m}), HasSubstr("-1 rows"));
  m = good;
  m.rows = int64_t{1} << 62;
  m.columns = 8;  // the product overflows
  EXPECT_THAT(heat_message({m}), HasSubstr("6 values for"));
  EXPECT_THAT(heat_message({good}, {.low = 1}), HasSubstr("the range is 1 to 1"));
  EXPECT_THAT(heat_message({good}, {.high = NAN}), HasSubstr("the range is 0 to nan"));
  EXPECT_THAT(heat_message({good}, {.low = -1e308, .high = 1e308}), HasSubstr("both finite"));
  EXPECT_THAT(heat_message({good}, {.cell = 201}), HasSubstr("cell 201"));
  EXPECT_THAT(heat_message({good}, {.maps_per_row = -1}), HasSubstr("maps_per_row -1"));
  EXPECT_THAT(heat_message({good}, {}, 9), HasSubstr("zoom 9; need 1 to 8"));
  EXPECT_THAT(heat_message({one_hot(200, 200, 0, 0)}, {.cell = 200}), HasSubstr("smaller cells"));
}

}  // namespace
