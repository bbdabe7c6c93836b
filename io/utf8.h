// The characters of text as pieces of it. Not public; io/characters.h turns them into numbers.
#pragma once

#include <string_view>
#include <vector>

namespace fovea::detail {

/// Appends the characters of `utf8`, which must be UTF-8: see code_points().
inline void append_characters(std::string_view utf8, std::vector<std::string_view>& out) {
  for (size_t at = 0; at < utf8.size();) {
    size_t end = at + 1;
    while (end < utf8.size() && (static_cast<unsigned char>(utf8[end]) & 0xc0) == 0x80) ++end;
    out.push_back(utf8.substr(at, end - at));
    at = end;
  }
}

}  // namespace fovea::detail
