// Pictures made of pixels, and the strokes that viz/ draws with.
//
// Coordinates are in pixels from the top left corner; pixel (i, j) covers [j, j+1) x [i, i+1), so
// the picture spans [0, width] x [0, height]. What falls outside is clipped.
#pragma once

#include <cstdint>
#include <vector>

namespace fovea {

struct Color {
  uint8_t r = 0, g = 0, b = 0;
  friend bool operator==(const Color& a, const Color& b) {
    return a.r == b.r && a.g == b.g && a.b == b.b;
  }
};

/// The colour a share t in [0, 1] of the way from a to b, mixed in linear light.
Color mix(Color a, Color b, double t);

/// Part of a picture, in whole pixels.
struct Area {
  int64_t x = 0, y = 0, width = 0, height = 0;
};

struct Image {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> rgb;  ///< (height, width, 3), sRGB, for write_png(path, rgb.data(), ...)

  Image() = default;
  /// ValueError unless both sides are 1 to 100,000.
  Image(int64_t width, int64_t height, Color background);

  Color at(int64_t x, int64_t y) const;
  /// Lays a colour over one pixel; opacity in [0, 1]. Outside the picture nothing happens.
  void blend(int64_t x, int64_t y, Color c, double opacity = 1);
};

/// A pen: colour, opacity, and the area that may be painted (all of the picture when empty).
struct Pen {
  Color color = {};
  double opacity = 1;
  Area clip = {};
};

void fill(Image& image, const Area& area, Color c, double opacity = 1);
/// A straight line with round ends, smooth at the edges.
void draw_line(Image& image, double x0, double y0, double x1, double y1, double width,
               const Pen& pen);
/// The outline of [x0, x1] x [y0, y1], drawn on the inside with square corners.
void draw_rect(Image& image, double x0, double y0, double x1, double y1, double width,
               const Pen& pen);
void draw_disc(Image& image, double x, double y, double radius, const Pen& pen);

}  // namespace fovea
