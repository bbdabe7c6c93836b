#include "fovea/viz/font.h"

#include <algorithm>
#include <iterator>

#include "fovea/viz/utf8.h"

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

// The letters from U+00C0 on, and the marks above or below them; a space where there is none here.
constexpr std::string_view kLatin =
    "AAAAAA CEEEEIIII NOOOOO  UUUUY  aaaaaa ceeeeiiii nooooo  uuuuy y";
constexpr std::string_view kAccents =
    "`'^~:o ,`'^:`'^: ~`'^~:  `'^:'  `'^~:o ,`'^:`'^: ~`'^~:  `'^:' :";
constexpr int kFirstLatin = 0xC0, kOpenBox = 0x2423, kSmallTop = 2;

struct Mark {
  char name;
  int row;  // of its first line, for a small letter
  const char* lines[2];
};
constexpr Mark kMarks[] = {
    {'`', 0, {" #   ", "  #  "}}, {'\'', 0, {"   # ", "  #  "}}, {'^', 0, {"  #  ", " # # "}},
    {'~', 0, {"  # #", " # # "}}, {':', 0, {" # # ", "     "}},  {'o', 0, {" ### ", " ### "}},
    {',', 7, {"  #  ", " ##  "}},
};

struct Glyph {
  const char* const* rows;  // kRows strings, read from `column` on
  int column;
  const Mark* mark = nullptr;
  bool small = false;        // a letter whose mark stands in its first rows
  int first = 0, width = 0;  // the columns that are not blank
  bool ink(int row, int x) const {
    return rows[row][column + first + x] == '#' && !(small && mark != nullptr && row < kSmallTop);
  }
};

Glyph glyph(char32_t character) {
  int code = character < kUnknown ? static_cast<int>(character) : kUnknown;
  if (code < kFirst) code = kUnknown;
  const Mark* mark = nullptr;
  const size_t latin = character - kFirstLatin;  // wraps around below
  if (character >= kFirstLatin && latin < kLatin.size() && kLatin[latin] != ' ') {
    code = kLatin[latin];
    mark = std::find_if(std::begin(kMarks), std::end(kMarks),
                        [latin](const Mark& m) { return m.name == kAccents[latin]; });
  }
  if (character == kOpenBox) code = '_';
  const int index = code - kFirst;
  Glyph g{kGlyphs + index / kBand * kRows, index % kBand * (kColumns + 1), mark, code >= 'a'};
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

/// Calls ink(x, y) for each dot, from the left end of the line and the top of capitals, and returns
/// how far the line reaches.
template <class Ink>
int64_t write(std::string_view text, Ink ink) {
  int64_t x = 0;
  for (size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    const Glyph g = glyph(c.valid ? c.code : kUnknown);
    for (int r = 0; r < kRows; ++r) {
      for (int k = 0; k < g.width; ++k) {
        if (g.ink(r, k)) ink(x + k, int64_t{r});
      }
    }
    for (int k = 0; g.mark != nullptr && k < 2 * kColumns; ++k) {
      const int row = g.mark->row + k / kColumns, column = k % kColumns;
      const bool raised = !g.small && g.mark->row < kSmallTop;
      if (g.mark->lines[k / kColumns][column] == '#') {
        ink(x + column - g.first, int64_t{raised ? row - 3 : row});
      }
    }
    x += advance(g);
    i += c.length;
  }
  return x;
}

}  // namespace

int64_t text_width(std::string_view text, int64_t scale) {
  return std::max<int64_t>(0, write(text, [](int64_t, int64_t) {}) - kGap) * scale;
}

int64_t draw_text(Image& image, int64_t x, int64_t y, std::string_view text, Color color,
                  int64_t scale) {
  return x + scale * write(text, [&](int64_t dx, int64_t dy) {
               fill(image, {x + dx * scale, y + dy * scale, scale, scale}, color);
             });
}

void draw_text_upward(Image& image, int64_t x, int64_t y, std::string_view text, Color color,
                      int64_t scale) {
  write(text, [&](int64_t dx, int64_t dy) {
    fill(image, {x + dy * scale, y - (dx + 1) * scale, scale, scale}, color);
  });
}

}  // namespace fovea
