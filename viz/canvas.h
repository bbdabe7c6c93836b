// One drawing, two pictures: what is drawn on a Canvas becomes an SVG or pixels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/viz/image.h"

namespace fovea {

enum class TextAnchor { start, middle, end };

struct TextStyle {
  Color color = {};
  TextAnchor anchor = TextAnchor::start;
  bool bold = false;
  bool upward = false;  ///< turned left, read from the bottom up
};

class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void draw_areas(const std::vector<Area>& areas, Color c) = 0;
  /// Grey with slanted lines: what has no value.
  virtual void draw_hatched(const std::vector<Area>& areas) = 0;
  /// One line of UTF-8; y is the middle of its capitals, or x where it runs upward.
  virtual void draw_line_of_text(double x, double y, std::string_view text,
                                 const TextStyle& style) = 0;
};

/// Pixels to keep free for a line of text, on either canvas.
int64_t text_room(std::string_view text);

class SvgCanvas : public Canvas {
 public:
  /// `title` is what screen readers say.
  SvgCanvas(int64_t width, int64_t height, std::string_view title);
  void draw_areas(const std::vector<Area>& areas, Color c) override;
  void draw_hatched(const std::vector<Area>& areas) override;
  void draw_line_of_text(double x, double y, std::string_view text,
                         const TextStyle& style) override;
  std::string finish() { return std::move(out_) + "</svg>\n"; }

 private:
  std::string out_;
};

class PixelCanvas : public Canvas {
 public:
  /// `zoom` pixels of the image for one of the canvas.
  PixelCanvas(int64_t width, int64_t height, int64_t zoom);
  void draw_areas(const std::vector<Area>& areas, Color c) override;
  void draw_hatched(const std::vector<Area>& areas) override;
  void draw_line_of_text(double x, double y, std::string_view text,
                         const TextStyle& style) override;
  Image finish() { return std::move(image_); }

 private:
  Image image_;
  int64_t zoom_;
};

}  // namespace fovea
