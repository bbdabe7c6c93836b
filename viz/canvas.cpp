#include "fovea/viz/canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "fovea/viz/font.h"
#include "fovea/viz/svg.h"
#include "fovea/viz/utf8.h"

namespace fovea {
namespace {

constexpr Color kUnknownGround{226, 228, 232}, kUnknownLine{140, 146, 156};
constexpr double kSvgColumn = 6.6;  // of 11-pixel text; capitals are wider, most letters narrower

std::string hex(Color c) { return fmt::format("#{:02X}{:02X}{:02X}", c.r, c.g, c.b); }

struct Stroke {
  double x0, y0, x1, y1;
};

/// The slanted lines of a hatched area.
std::vector<Stroke> hatching(const Area& a) {
  const auto x = static_cast<double>(a.x), y = static_cast<double>(a.y);
  const auto w = static_cast<double>(a.width), h = static_cast<double>(a.height);
  return {{x, y + h / 2, x + w / 2, y}, {x, y + h, x + w, y}, {x + w / 2, y + h, x + w, y + h / 2}};
}

}  // namespace

int64_t text_room(std::string_view text) {
  return std::max(
      text_width(text),
      static_cast<int64_t>(std::ceil(kSvgColumn * static_cast<double>(column_count(text)))));
}

SvgCanvas::SvgCanvas(int64_t width, int64_t height, std::string_view title)
    : out_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
                       "width=\"{0}\" height=\"{1}\" role=\"img\" font-family=\"{2}\" "
                       "font-size=\"11\">\n<title>{3}</title>\n"
                       "<rect width=\"{0}\" height=\"{1}\" fill=\"#FFFFFF\"/>\n",
                       width, height, kSystemFonts, xml_escape(title))) {}

void SvgCanvas::draw_areas(const std::vector<Area>& areas, Color c) {
  if (areas.empty()) return;
  fmt::format_to(std::back_inserter(out_), "<path fill=\"{}\" d=\"", hex(c));
  for (const Area& a : areas) {
    fmt::format_to(std::back_inserter(out_), "M{} {}h{}v{}h-{}z", a.x, a.y, a.width, a.height,
                   a.width);
  }
  out_ += "\" shape-rendering=\"crispEdges\"/>\n";
}

void SvgCanvas::draw_hatched(const std::vector<Area>& areas) {
  if (areas.empty()) return;
  draw_areas(areas, kUnknownGround);
  fmt::format_to(std::back_inserter(out_), "<path fill=\"none\" stroke=\"{}\" d=\"",
                 hex(kUnknownLine));
  for (const Area& a : areas) {
    for (const Stroke& s : hatching(a)) {
      fmt::format_to(std::back_inserter(out_), "M{} {}L{} {}", s.x0, s.y0, s.x1, s.y1);
    }
  }
  out_ += "\"/>\n";
}

void SvgCanvas::draw_line_of_text(double x, double y, std::string_view text, const TextStyle& s) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  const std::string turn =
      s.upward ? fmt::format(" transform=\"rotate(-90 {} {})\"", x, y) : std::string();
  fmt::format_to(std::back_inserter(out_),
                 "<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" fill=\"{}\"{}{}>{}</text>\n", x, y + 4,
                 kAnchors[static_cast<int>(s.anchor)], hex(s.color),
                 s.bold ? " font-weight=\"600\"" : "", turn, xml_escape(text));
}

PixelCanvas::PixelCanvas(int64_t width, int64_t height, int64_t zoom)
    : image_(width * zoom, height * zoom, {255, 255, 255}), zoom_(zoom) {}

void PixelCanvas::draw_areas(const std::vector<Area>& areas, Color c) {
  for (const Area& a : areas) {
    fill(image_, {a.x * zoom_, a.y * zoom_, a.width * zoom_, a.height * zoom_}, c);
  }
}

void PixelCanvas::draw_hatched(const std::vector<Area>& areas) {
  draw_areas(areas, kUnknownGround);
  for (const Area& a : areas) {
    const Area clip{a.x * zoom_, a.y * zoom_, a.width * zoom_, a.height * zoom_};
    for (const Stroke& s : hatching(clip)) {
      draw_line(image_, s.x0, s.y0, s.x1, s.y1, static_cast<double>(zoom_),
                {kUnknownLine, 1, clip});
    }
  }
}

void PixelCanvas::draw_line_of_text(double x, double y, std::string_view text, const TextStyle& s) {
  const auto zoom = static_cast<double>(zoom_);
  // The point of the text in pixels: `along` where it starts, `across` the top of its capitals.
  const double width = static_cast<double>(text_width(text, zoom_)) * (s.upward ? -1 : 1);
  const double share = s.anchor == TextAnchor::start ? 0 : s.anchor == TextAnchor::middle ? 0.5 : 1;
  const int64_t along = std::lround((s.upward ? y : x) * zoom - share * width);
  const int64_t across = std::lround(((s.upward ? x : y) - kTextHeight / 2.0) * zoom);
  for (int64_t strike = 0; strike <= (s.bold ? 1 : 0); ++strike) {  // bold is struck twice
    if (s.upward) {
      draw_text_upward(image_, across, along - strike, text, s.color, zoom_);
    } else {
      draw_text(image_, along + strike, across, text, s.color, zoom_);
    }
  }
}

}  // namespace fovea
