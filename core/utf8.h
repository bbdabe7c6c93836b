// The first character of UTF-8 text, which readers and pictures both ask for. Not public.
#pragma once

#include <cstddef>
#include <string_view>

namespace fovea::detail {

struct Character {
  char32_t code = 0;
  size_t bytes = 0;  ///< 0 when the text does not begin with one
};

/// Cut off, too long a form, a surrogate or beyond U+10FFFF: none. The Unicode Standard, table 3-7.
inline Character first_character(std::string_view text) {
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // by the number of bytes
  if (text.empty()) return {};
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t n = lead >= 0xc2 && lead < 0xe0   ? 2
                   : lead >= 0xe0 && lead < 0xf0 ? 3
                   : lead >= 0xf0 && lead < 0xf5 ? 4
                                                 : 0;
  if (n == 0 || n > text.size()) return {};
  char32_t code = lead & (0x7fu >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[n] || surrogate || code > 0x10ffff) return {};
  return {code, n};
}

}  // namespace fovea::detail
