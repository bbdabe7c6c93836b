#include "fovea/viz/utf8.h"

#include <algorithm>
#include <iterator>

#include "fovea/core/utf8.h"

namespace fovea {
namespace {

struct CodeRange {
  char32_t first, last;
};

// Marks that stand on the letter before them, joiners, directions and variation selectors.
constexpr CodeRange kNoColumn[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0670, 0x0670}, {0x06D6, 0x06DC}, {0x0900, 0x0902}, {0x093C, 0x093C}, {0x0941, 0x0948},
    {0x094D, 0x094D}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x206F}, {0x20D0, 0x20FF},
    {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
};
// Hangul, kana, Han, full-width forms, emoji. Kuhn 2007, mk_wcwidth.
constexpr CodeRange kTwoColumns[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF},
    {0x20000, 0x3FFFD},
};

template <size_t N>
bool contains(const CodeRange (&ranges)[N], char32_t code) {
  const auto* after = std::upper_bound(std::begin(ranges), std::end(ranges), code,
                                       [](char32_t c, const CodeRange& r) { return c < r.first; });
  return after != std::begin(ranges) && code <= std::prev(after)->last;
}

int64_t columns_of(char32_t code) {
  return contains(kNoColumn, code) ? 0 : contains(kTwoColumns, code) ? 2 : 1;
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029;
}

}  // namespace

Character character_at(std::string_view s, size_t i) {
  const detail::Character c = detail::first_character(s.substr(i));
  return c.bytes == 0 ? Character{} : Character{c.code, c.bytes, true};
}

int64_t column_count(std::string_view text) {
  int64_t columns = 0;
  for (size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    columns += columns_of(c.code);
    i += c.length;
  }
  return columns;
}

std::string cut_to_columns(std::string_view text, int64_t columns, std::string_view ellipsis) {
  if (column_count(text) <= columns) return std::string(text);
  const int64_t room = columns - column_count(ellipsis);
  if (room < 0) ellipsis = {};
  int64_t taken = 0;
  size_t i = 0;
  while (i < text.size()) {
    const Character c = character_at(text, i);
    taken += columns_of(c.code);
    if (taken > (room < 0 ? columns : room)) break;
    i += c.length;
  }
  return std::string(text.substr(0, i)) + std::string(ellipsis);
}

std::string visible_token(std::string_view token) {
  const bool spaces = token.find_first_not_of(' ') == std::string_view::npos;
  std::string out;
  for (size_t i = 0; i < token.size();) {
    const Character c = character_at(token, i);
    if (!c.valid || is_control(c.code)) {
      out += "\uFFFD";
    } else if (spaces) {
      out += "\u2423";
    } else {
      out += token.substr(i, c.length);
    }
    i += c.length;
  }
  return out;
}

}  // namespace fovea
