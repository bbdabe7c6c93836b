// The characters of UTF-8 text.
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

/// The columns a character takes on a terminal: 0 for combining marks and zero-width characters, 2
/// for East Asian wide ones and emoji, else 1.
int64_t columns_of(char32_t code);
int64_t columns_of(std::string_view text);

}  // namespace fovea
