#include "fovea/viz/svg.h"

#include <algorithm>

namespace fovea {
namespace {

/// The length of the UTF-8 sequence that begins at `i`, or 0 when there is none.
/// The Unicode Standard, table 3-7.
size_t utf8_length(std::string_view s, size_t i) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(s[k]); };
  const unsigned lead = byte(i);
  if (lead < 0x80) return 1;
  const size_t n = lead >= 0xC2 && lead <= 0xDF   ? 2
                   : lead >= 0xE0 && lead <= 0xEF ? 3
                   : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                  : 0;
  if (n == 0 || i + n > s.size()) return 0;
  for (size_t k = i + 1; k < i + n; ++k) {
    if ((byte(k) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(i + 1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
    return 0;
  }
  // U+FFFE and U+FFFF are no XML characters.
  if (s.substr(i, 2) == "\xEF\xBF" && byte(i + 2) >= 0xBE) return 0;
  return n;
}

}  // namespace

std::string xml_escape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const size_t n = utf8_length(text, i);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else if (n == 0 || (n == 1 && static_cast<unsigned char>(c) < 0x20 && c != '\n' &&
                          c != '\t' && c != '\r')) {
      out += "\xEF\xBF\xBD";
    } else {
      out += text.substr(i, n);
    }
    i += std::max<size_t>(n, 1);
  }
  return out;
}

int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace fovea
