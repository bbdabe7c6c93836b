// A small bitmap font: printable ASCII, five pixels wide and seven high, two more below the line,
// and the accented letters of Latin-1. Marks on capitals stand up to three pixels above the line.
#pragma once

#include <cstdint>
#include <string_view>

#include "fovea/viz/image.h"

namespace fovea {

inline constexpr int64_t kTextHeight = 7;  ///< of capitals and digits, at scale 1
inline constexpr int64_t kTextDepth = 2;   ///< below the line, as in g and y

/// The width of one line in pixels. Narrow letters take less room.
int64_t text_width(std::string_view text, int64_t scale = 1);

/// Draws one line of UTF-8 whose capitals fill rows y to y + 7 scale; returns the x after it. Each
/// other character, and each byte that is not UTF-8, is drawn as a box.
int64_t draw_text(Image& image, int64_t x, int64_t y, std::string_view text, Color c,
                  int64_t scale = 1);

/// The same from the bottom up, turned left: capitals fill columns x to x + 7 scale, and the first
/// letter stands on row y.
void draw_text_upward(Image& image, int64_t x, int64_t y, std::string_view text, Color c,
                      int64_t scale = 1);

}  // namespace fovea
