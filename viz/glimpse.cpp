#include "fovea/viz/glimpse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/core/error.h"
#include "fovea/viz/font.h"

namespace fovea {
namespace {

constexpr Color kPage{255, 255, 255}, kBlack{12, 14, 20}, kWhite{218, 222, 230},
    kBorder{38, 42, 54};
constexpr Color kInk{70, 76, 86}, kRight{18, 128, 66}, kWrong{200, 38, 38};
constexpr Color kFirstColor{64, 190, 255}, kMiddleColor{190, 120, 255}, kLastColor{255, 84, 112};
constexpr int64_t kMargin = 16, kGutter = 16, kCaptionGap = 9, kLineGap = 8;

void check(const GlimpseGrid& g) {
  const auto fail = [](const std::string& what) { throw ValueError("draw_glimpses: " + what); };
  if (g.paths.empty()) fail("there is no image to draw");
  if (g.height < 1 || g.width < 1 || g.scales < 1 || g.columns < 1 || g.zoom < 1 ||
      !(g.patch > 0)) {
    fail(
        fmt::format("height {}, width {}, patch {}, scales {}, columns {}, zoom {} must all be "
                    "positive",
                    g.height, g.width, g.patch, g.scales, g.columns, g.zoom));
  }
  const auto names = static_cast<int64_t>(g.class_names.size());
  for (size_t i = 0; i < g.paths.size(); ++i) {
    const GlimpsePath& p = g.paths[i];
    if (static_cast<int64_t>(p.pixels.size()) != g.height * g.width) {
      fail(fmt::format("image {} has {} pixels; {} x {} are expected", i, p.pixels.size(), g.height,
                       g.width));
    }
    for (const GlimpsePoint& c : p.centres) {
      if (!std::isfinite(c.x) || !std::isfinite(c.y)) {
        fail(fmt::format("image {} has a centre at ({}, {}); it must be finite", i, c.x, c.y));
      }
    }
    if (names > 0 && std::max(p.label, p.predicted) >= names) {
      fail(fmt::format("image {} has class {}; {} class names were given", i,
                       std::max(p.label, p.predicted), names));
    }
  }
}

Color colour_of(size_t glimpse, size_t count) {
  const double t = count > 1 ? static_cast<double>(glimpse) / static_cast<double>(count - 1) : 0;
  return t < 0.5 ? mix(kFirstColor, kMiddleColor, 2 * t) : mix(kMiddleColor, kLastColor, 2 * t - 1);
}

/// The border, in pixels of the image, that shows the finest squares reaching out of it: as wide as
/// the path needs, at most half a patch.
int64_t border_of(const GlimpseGrid& g) {
  double reach = 0;
  for (const GlimpsePath& p : g.paths) {
    for (const GlimpsePoint& c : p.centres) {
      reach = std::max({reach, g.patch / 2 - std::min(c.x, c.y),
                        g.patch / 2 + c.x - static_cast<double>(g.width),
                        g.patch / 2 + c.y - static_cast<double>(g.height)});
    }
  }
  return static_cast<int64_t>(std::ceil(std::min(reach, g.patch / 2)));
}

void draw_pixels(Image& out, const GlimpseGrid& g, const GlimpsePath& p, const Area& panel,
                 int64_t border) {
  fill(out, panel, kBorder);
  for (int64_t i = 0; i < g.height * g.width; ++i) {
    const float v = p.pixels[static_cast<size_t>(i)];
    const double share = v > 0 ? std::min<double>(v, 1) : 0;  // NaN is black
    // Mixed in sRGB as the image itself is: its greys keep their values.
    const auto grey = [share](int a, int b) {
      return static_cast<uint8_t>(std::lround(a + (b - a) * share));
    };
    fill(out,
         {panel.x + (i % g.width + border) * g.zoom, panel.y + (i / g.width + border) * g.zoom,
          g.zoom, g.zoom},
         {grey(kBlack.r, kWhite.r), grey(kBlack.g, kWhite.g), grey(kBlack.b, kWhite.b)});
  }
}

/// Places numbered discs at corners of squares so that they cover each other least.
class Badges {
 public:
  Badges(const Area& panel, double radius) : panel_(panel), radius_(radius) {}

  GlimpsePoint place(double x, double y, double r) {
    GlimpsePoint best;
    double least = INFINITY;
    for (const auto& [sx, sy] : {std::pair{-1., -1.}, {1., -1.}, {1., 1.}, {-1., 1.}}) {
      const GlimpsePoint wanted{x + sx * r, y + sy * r};
      const double left = static_cast<double>(panel_.x) + radius_ + 1;
      const double top = static_cast<double>(panel_.y) + radius_ + 1;
      const GlimpsePoint p{
          std::clamp(wanted.x, left, left + static_cast<double>(panel_.width) - 2 * radius_ - 2),
          std::clamp(wanted.y, top, top + static_cast<double>(panel_.height) - 2 * radius_ - 2)};
      double cost = std::hypot(p.x - wanted.x, p.y - wanted.y) / radius_;
      for (const GlimpsePoint& q : placed_) {
        cost += 4 * std::max(0.0, 1 - std::hypot(p.x - q.x, p.y - q.y) / (2 * radius_ + 1));
      }
      if (cost < least - 1e-9) {
        least = cost;
        best = p;
      }
    }
    placed_.push_back(best);
    return best;
  }

 private:
  Area panel_;
  double radius_;
  std::vector<GlimpsePoint> placed_;
};

void draw_path(Image& out, const GlimpseGrid& g, const GlimpsePath& p, const Area& panel,
               int64_t border) {
  const size_t count = p.centres.size();
  const auto zoom = static_cast<double>(g.zoom);
  const auto at = [&](size_t i) {
    return GlimpsePoint{static_cast<double>(panel.x + border * g.zoom) + p.centres[i].x * zoom,
                        static_cast<double>(panel.y + border * g.zoom) + p.centres[i].y * zoom};
  };
  const auto pen = [&](Color c, double opacity) { return Pen{c, opacity, panel}; };
  const auto draw_square = [&](const GlimpsePoint& c, double r, double line, const Pen& with) {
    draw_rect(out, std::round(c.x - r), std::round(c.y - r), std::round(c.x + r),
              std::round(c.y + r), line, with);
  };

  for (size_t i = 0; i < count; ++i) {
    double r = g.patch * zoom / 2;
    for (int64_t s = 1; s < g.scales; ++s) {
      r *= 2;
      draw_square(at(i), r, 1, pen(colour_of(i, count), s == 1 ? 0.5 : 0.22));
    }
  }
  for (size_t i = 0; i + 1 < count; ++i) {
    draw_line(out, at(i).x, at(i).y, at(i + 1).x, at(i + 1).y, 5, pen(kBlack, 0.55));
  }
  for (size_t i = 0; i + 1 < count; ++i) {
    draw_line(out, at(i).x, at(i).y, at(i + 1).x, at(i + 1).y, 2.5,
              pen(mix(colour_of(i, count), colour_of(i + 1, count), 0.5), 1));
  }
  const double r = g.patch * zoom / 2;
  for (size_t i = 0; i < count; ++i) {
    const GlimpsePoint c = at(i);
    draw_square(c, r + 1, 4, pen(kBlack, 0.6));
    draw_square(c, r, 2, pen(colour_of(i, count), 1));
    draw_disc(out, c.x, c.y, 4, pen(kBlack, 0.8));
    draw_disc(out, c.x, c.y, 2.5, pen(colour_of(i, count), 1));
  }
  const double radius = 8;
  Badges badges(panel, radius);
  for (size_t i = 0; i < count; ++i) {
    const GlimpsePoint b = badges.place(at(i).x, at(i).y, r);
    draw_disc(out, b.x, b.y, radius + 1, pen(kBlack, 0.8));
    draw_disc(out, b.x, b.y, radius, pen(colour_of(i, count), 1));
    const std::string number = std::to_string(i + 1);
    draw_text(out, std::lround(b.x - static_cast<double>(text_width(number)) / 2),
              std::lround(b.y - static_cast<double>(kTextHeight) / 2), number, kBlack);
  }
}

/// The two halves of a caption; either may be empty.
struct Caption {
  std::string truth, said;
  Color colour = kInk;
};

Caption caption_of(const GlimpseGrid& g, const GlimpsePath& p) {
  const auto name = [&](int64_t c) {
    return g.class_names.empty() ? std::to_string(c) : g.class_names[static_cast<size_t>(c)];
  };
  Caption c;
  if (p.label >= 0) c.truth = "true " + name(p.label);
  if (p.predicted >= 0) c.said = "said " + name(p.predicted);
  if (p.label >= 0 && p.predicted >= 0) c.colour = p.label == p.predicted ? kRight : kWrong;
  return c;
}

/// Large letters on one line where every caption fits, else on two, else small ones on two.
struct Layout {
  int64_t scale = 2, lines = 1;
  int64_t height() const {
    return lines * (kTextHeight + kTextDepth) * scale + (lines - 1) * kLineGap;
  }
};

constexpr int64_t kBetween = 12;  // columns between the halves, at scale 1

Layout layout_of(const std::vector<Caption>& captions, int64_t width) {
  Layout layout;
  for (const Caption& c : captions) {
    const int64_t a = text_width(c.truth, 2), b = text_width(c.said, 2);
    if (a + b + 2 * kBetween > width) layout.lines = 2;
  }
  for (const Caption& c : captions) {
    if (layout.lines == 2 && std::max(text_width(c.truth, 2), text_width(c.said, 2)) > width) {
      layout.scale = 1;
    }
  }
  return layout;
}

}  // namespace

Image draw_glimpses(const GlimpseGrid& g) {
  check(g);
  std::vector<Caption> captions;
  bool any = false;
  for (const GlimpsePath& p : g.paths) {
    captions.push_back(caption_of(g, p));
    any = any || !captions.back().truth.empty() || !captions.back().said.empty();
  }
  const auto count = static_cast<int64_t>(g.paths.size());
  const int64_t columns = std::min(g.columns, count), rows = (count + columns - 1) / columns;
  const int64_t border = border_of(g);
  const int64_t width = (g.width + 2 * border) * g.zoom, height = (g.height + 2 * border) * g.zoom;
  const Layout layout = layout_of(captions, width);
  const int64_t row_height = height + (any ? kCaptionGap + layout.height() : 0) + kGutter;

  Image out(2 * kMargin + columns * width + (columns - 1) * kGutter,
            2 * kMargin + rows * row_height - kGutter, kPage);
  for (int64_t i = 0; i < count; ++i) {
    const GlimpsePath& p = g.paths[static_cast<size_t>(i)];
    const Area panel{kMargin + i % columns * (width + kGutter), kMargin + i / columns * row_height,
                     width, height};
    draw_pixels(out, g, p, panel, border);
    draw_path(out, g, p, panel, border);
    const Caption& c = captions[static_cast<size_t>(i)];
    int64_t x = panel.x, y = panel.y + height + kCaptionGap;
    if (!c.truth.empty()) {
      const int64_t after = draw_text(out, x, y, c.truth, kInk, layout.scale);
      if (layout.lines == 1) x = after + kBetween * layout.scale;
      if (layout.lines == 2) y += (kTextHeight + kTextDepth) * layout.scale + kLineGap;
    }
    draw_text(out, x, y, c.said, c.colour, layout.scale);
  }
  return out;
}

}  // namespace fovea
