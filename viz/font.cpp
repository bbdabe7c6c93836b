#include "fovea/viz/font.h"

#include <algorithm>

namespace fovea {
namespace {

constexpr int kBand = 12;  // glyphs side by side
constexpr int kRows = 9;
constexpr int kColumns = 5;
constexpr int kFirst = ' ', kUnknown = 127;
constexpr int64_t kGap = 1, kSpace = 3;  // columns after a letter, and of a space

// clang-format off
constexpr const char* kGlyphs[] = {
    //       !     "     #     $     %     &     '     (     )     *     +
    "        #    # #   # #    #   ##     ##     #      #   #               ",
    "        #    # #   # #   #### ##  # #  #    #     #     #     #     #  ",
    "        #    # #  ##### # #      #  # #     #    #       #  # # #   #  ",
    "        #          # #   ###    #    #           #       #   ###  #####",
    "        #         #####   # #  #    # # #        #       #  # # #   #  ",
    "                   # #  ####  #  ## #  #          #     #     #     #  ",
    "        #          # #    #      ##  ## #          #   #               ",
    "                                                                       ",
    "                                                                       ",
    // ,     -     .     /     0     1     2     3     4     5     6     7
    "                         ###    #    ###  #####    #  #####   ##  #####",
    "                      # #   #  ##   #   #    #    ##  #      #        #",
    "                     #  #  ##   #       #   #    # #  ####  #        # ",
    "       ###          #   # # #   #      #     #  #  #      # ####    #  ",
    "                   #    ##  #   #     #       # #####     # #   #  #   ",
    " ##          ##   #     #   #   #    #    #   #    #  #   # #   #  #   ",
    " ##          ##          ###   ###  #####  ###     #   ###   ###   #   ",
    "  #                                                                    ",
    " #                                                                     ",
    // 8     9     :     ;     <     =     >     ?     @     A     B     C
    " ###   ###                 #        #      ###   ###   ###  ####   ### ",
    "#   # #   #  ##    ##     #          #    #   # #   # #   # #   # #   #",
    "#   # #   #  ##    ##    #    #####   #       # # ### #   # #   # #    ",
    " ###   ####             #              #     #  # # # #   # ####  #    ",
    "#   #     #  ##          #    #####   #     #   # ### ##### #   # #    ",
    "#   #    #   ##    ##     #          #          #     #   # #   # #   #",
    " ###   ##          ##      #        #       #    ###  #   # ####   ### ",
    "                    #                                                  ",
    "                   #                                                   ",
    // D     E     F     G     H     I     J     K     L     M     N     O
    "###   ##### #####  ###  #   #  ###    ### #   # #     #   # #   #  ### ",
    "#  #  #     #     #   # #   #   #      #  #  #  #     ## ## #   # #   #",
    "#   # #     #     #     #   #   #      #  # #   #     # # # ##  # #   #",
    "#   # ####  ####  # ### #####   #      #  ##    #     # # # # # # #   #",
    "#   # #     #     #   # #   #   #      #  # #   #     #   # #  ## #   #",
    "#  #  #     #     #   # #   #   #   #  #  #  #  #     #   # #   # #   #",
    "###   ##### #      ###  #   #  ###   ##   #   # ##### #   # #   #  ### ",
    "                                                                       ",
    "                                                                       ",
    // P     Q     R     S     T     U     V     W     X     Y     Z     [
    "####   ###  ####   #### ##### #   # #   # #   # #   # #   # #####  ### ",
    "#   # #   # #   # #       #   #   # #   # #   # #   # #   #     #  #   ",
    "#   # #   # #   # #       #   #   # #   # #   #  # #  #   #    #   #   ",
    "####  #   # ####   ###    #   #   # #   # # # #   #    # #    #    #   ",
    "#     # # # # #       #   #   #   # #   # # # #  # #    #    #     #   ",
    "#     #  #  #  #      #   #   #   #  # #  # # # #   #   #   #      #   ",
    "#      ## # #   # ####    #    ###    #    # #  #   #   #   #####  ### ",
    "                                                                       ",
    "                                                                       ",
    // \     ]     ^     _     `     a     b     c     d     e     f     g
    "       ###    #          #          #               #         ##       ",
    "#        #   # #          #         #               #        #  #      ",
    " #       #  #   #          #   ###  # ##   ###   ## #  ###   #     ####",
    "  #      #                        # ##  # #     #  ## #   # ###   #   #",
    "   #     #                     #### #   # #     #   # #####  #    #   #",
    "    #    #                    #   # #   # #   # #   # #      #    #   #",
    "       ###                     #### ####   ###   ####  ###   #     ####",
    "                  #####                                               #",
    "                                                                   ### ",
    // h     i     j     k     l     m     n     o     p     q     r     s
    "#       #      #  #      ##                                            ",
    "#                 #       #                                            ",
    "# ##   ##     ##  #  #    #   ## #  # ##   ###  ####   #### # ##   ### ",
    "##  #   #      #  # #     #   # # # ##  # #   # #   # #   # ##  # #    ",
    "#   #   #      #  ##      #   # # # #   # #   # #   # #   # #      ### ",
    "#   #   #      #  # #     #   # # # #   # #   # #   # #   # #         #",
    "#   #  ###     #  #  #   ###  # # # #   #  ###  ####   #### #     #### ",
    "            #  #                                #         #            ",
    "             ##                                 #         #            ",
    // t     u     v     w     x     y     z     {     |     }     ~     unknown
    " #                                           #    #    #          #####",
    " #                                          #     #     #         #   #",
    "###   #   # #   # #   # #   # #   # #####   #     #     #    #    #   #",
    " #    #   # #   # #   #  # #  #   #    #   #      #      #  # # # #   #",
    " #    #   # #   # # # #   #   #   #   #     #     #     #      #  #   #",
    " #  # #  ##  # #  # # #  # #  #   #  #      #     #     #         #   #",
    "  ##   ## #   #    # #  #   #  #### #####    #    #    #          #####",
    "                                  #                                    ",
    "                               ###                                     ",
};
// clang-format on

struct Glyph {
  const char* const* rows;  // kRows strings, read from `column` on
  int column;
  int first = 0, width = 0;  // the columns that are not blank
  bool ink(int row, int x) const { return rows[row][column + first + x] == '#'; }
};

Glyph glyph(char c) {
  int code = static_cast<unsigned char>(c);
  if (code < kFirst || code > kUnknown) code = kUnknown;
  const int index = code - kFirst;
  Glyph g{kGlyphs + index / kBand * kRows, index % kBand * (kColumns + 1)};
  int last = -1;
  g.first = kColumns;
  for (int r = 0; r < kRows; ++r) {
    for (int x = 0; x < kColumns; ++x) {
      if (g.rows[r][g.column + x] != '#') continue;
      g.first = std::min(g.first, x);
      last = std::max(last, x);
    }
  }
  g.width = std::max(0, last - g.first + 1);
  return g;
}

int64_t advance(const Glyph& g) { return g.width > 0 ? g.width + kGap : kSpace; }

}  // namespace

int64_t text_width(std::string_view text, int64_t scale) {
  int64_t width = 0;
  for (char c : text) width += advance(glyph(c));
  return std::max<int64_t>(0, width - kGap) * scale;
}

int64_t draw_text(Image& image, int64_t x, int64_t y, std::string_view text, Color color,
                  int64_t scale) {
  for (char c : text) {
    const Glyph g = glyph(c);
    for (int r = 0; r < kRows; ++r) {
      for (int i = 0; i < g.width; ++i) {
        if (g.ink(r, i)) fill(image, {x + i * scale, y + r * scale, scale, scale}, color);
      }
    }
    x += advance(g) * scale;
  }
  return x;
}

}  // namespace fovea
