#include "fovea/viz/svg.h"

#include <algorithm>

#include "fovea/viz/utf8.h"

namespace fovea {
namespace {

/// Control characters but for space, and U+FFFE and U+FFFF, are no XML characters.
bool is_xml(const Character& c) {
  if (c.code < 0x20) return c.code == '\n' || c.code == '\t' || c.code == '\r';
  return c.valid && c.code != 0xFFFE && c.code != 0xFFFF;
}

}  // namespace

std::string xml_escape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    if (c.code == '&') {
      out += "&amp;";
    } else if (c.code == '<') {
      out += "&lt;";
    } else if (c.code == '>') {
      out += "&gt;";
    } else if (c.code == '"') {
      out += "&quot;";
    } else if (c.code == '\'') {
      out += "&#39;";
    } else if (!is_xml(c)) {
      out += "\xEF\xBF\xBD";
      ++i;
      continue;
    } else {
      out += text.substr(i, c.length);
    }
    i += c.length;
  }
  return out;
}

int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace fovea
