#include "fovea/viz/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/core/error.h"

namespace fovea {
namespace {

constexpr double kGamma = 2.2;  // close enough to sRGB for mixing

uint8_t mix_channel(uint8_t a, uint8_t b, double t) {
  const double x = std::pow(a / 255.0, kGamma), y = std::pow(b / 255.0, kGamma);
  return static_cast<uint8_t>(std::lround(255 * std::pow(x + (y - x) * t, 1 / kGamma)));
}

/// Whole pixels from `low` to `high`, inside [begin, end).
struct Span {
  int64_t begin, end;
};
Span pixels(double low, double high, int64_t begin, int64_t end) {
  // Clamped as doubles first: a conversion of NaN or 1e300 to an integer is undefined.
  const double b = static_cast<double>(begin), e = static_cast<double>(end);
  if (!(low <= high)) return {begin, begin};
  return {static_cast<int64_t>(std::clamp(std::floor(low), b, e)),
          static_cast<int64_t>(std::clamp(std::ceil(high), b, e))};
}

/// Calls coverage(x, y) at the centre of each pixel of the box and paints what it covers.
template <class Coverage>
void paint(Image& image, double x0, double y0, double x1, double y1, const Pen& pen,
           Coverage coverage) {
  const bool whole = pen.clip.width == 0;
  const int64_t left = whole ? 0 : std::max<int64_t>(0, pen.clip.x);
  const int64_t top = whole ? 0 : std::max<int64_t>(0, pen.clip.y);
  const int64_t right = whole ? image.width : std::min(image.width, pen.clip.x + pen.clip.width);
  const int64_t bottom =
      whole ? image.height : std::min(image.height, pen.clip.y + pen.clip.height);
  const Span rows = pixels(y0, y1, top, std::max(top, bottom));
  const Span columns = pixels(x0, x1, left, std::max(left, right));
  for (int64_t y = rows.begin; y < rows.end; ++y) {
    for (int64_t x = columns.begin; x < columns.end; ++x) {
      const double c = coverage(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5);
      if (c > 0) image.blend(x, y, pen.color, pen.opacity * std::min(c, 1.0));
    }
  }
}

/// How much of [p - 1/2, p + 1/2] lies in [low, high].
double overlap(double p, double low, double high) {
  return std::clamp(std::min(p + 0.5, high) - std::max(p - 0.5, low), 0.0, 1.0);
}

}  // namespace

Color mix(Color a, Color b, double t) {
  t = std::clamp(t, 0.0, 1.0);
  return {mix_channel(a.r, b.r, t), mix_channel(a.g, b.g, t), mix_channel(a.b, b.b, t)};
}

Image::Image(int64_t w, int64_t h, Color background) : width(w), height(h) {
  constexpr int64_t kMaxSide = 100'000;
  if (w < 1 || h < 1 || w > kMaxSide || h > kMaxSide) {
    throw ValueError(fmt::format("Image: a picture of {} x {}; sides are 1 to {}", w, h, kMaxSide));
  }
  rgb.resize(static_cast<size_t>(w * h * 3));
  for (size_t i = 0; i < rgb.size(); i += 3) {
    rgb[i] = background.r;
    rgb[i + 1] = background.g;
    rgb[i + 2] = background.b;
  }
}

Color Image::at(int64_t x, int64_t y) const {
  const uint8_t* p = rgb.data() + (y * width + x) * 3;
  return {p[0], p[1], p[2]};
}

void Image::blend(int64_t x, int64_t y, Color c, double opacity) {
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  uint8_t* p = rgb.data() + (y * width + x) * 3;
  const auto over = [opacity](uint8_t below, uint8_t above) {
    return static_cast<uint8_t>(std::lround(below + (above - below) * opacity));
  };
  p[0] = over(p[0], c.r);
  p[1] = over(p[1], c.g);
  p[2] = over(p[2], c.b);
}

void fill(Image& image, const Area& a, Color c, double opacity) {
  for (int64_t y = std::max<int64_t>(0, a.y); y < std::min(image.height, a.y + a.height); ++y) {
    for (int64_t x = std::max<int64_t>(0, a.x); x < std::min(image.width, a.x + a.width); ++x) {
      image.blend(x, y, c, opacity);
    }
  }
}

void draw_line(Image& image, double x0, double y0, double x1, double y1, double width,
               const Pen& pen) {
  const double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy, reach = width / 2 + 1;
  paint(image, std::min(x0, x1) - reach, std::min(y0, y1) - reach, std::max(x0, x1) + reach,
        std::max(y0, y1) + reach, pen, [=](double x, double y) {
          const double along = ((x - x0) * dx + (y - y0) * dy) / length2;
          const double t = length2 > 0 ? std::clamp(along, 0.0, 1.0) : 0;
          return width / 2 + 0.5 - std::hypot(x - x0 - t * dx, y - y0 - t * dy);
        });
}

void draw_rect(Image& image, double x0, double y0, double x1, double y1, double width,
               const Pen& pen) {
  paint(image, x0, y0, x1, y1, pen, [=](double x, double y) {
    const double outer = overlap(x, x0, x1) * overlap(y, y0, y1);
    const double inner = overlap(x, x0 + width, x1 - width) * overlap(y, y0 + width, y1 - width);
    return outer - inner;
  });
}

void draw_disc(Image& image, double x0, double y0, double radius, const Pen& pen) {
  paint(image, x0 - radius - 1, y0 - radius - 1, x0 + radius + 1, y0 + radius + 1, pen,
        [=](double x, double y) { return radius + 0.5 - std::hypot(x - x0, y - y0); });
}

}  // namespace fovea
