// The characters of UTF-8 text, and the room they take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea {

struct Character {
  char32_t code = 0xFFFD;  ///< U+FFFD for a byte that is not UTF-8
  size_t length = 1;       ///< bytes taken
  bool valid = false;
};

/// The character that begins at byte `i` < text.size(). The Unicode Standard, table 3-7.
Character character_at(std::string_view text, size_t i);

/// The columns of a terminal that text takes: none for combining marks and zero-width characters,
/// two for East Asian wide ones and emoji, else one.
int64_t column_count(std::string_view text);

/// Text that takes at most `columns`: its beginning and the ellipsis where it is longer.
std::string cut_to_columns(std::string_view text, int64_t columns, std::string_view ellipsis);

/// A token that shows: spaces become U+2423 where there is nothing else. Control characters, those
/// that turn the direction of writing, and bytes that are not UTF-8 become U+FFFD.
std::string visible_token(std::string_view token);

}  // namespace fovea
