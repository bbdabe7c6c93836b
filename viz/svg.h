// What every SVG and HTML page here needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea {

/// The fonts of the reader's system, for font-family.
inline constexpr const char* kSystemFonts =
    "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";

/// Text for an XML element or a quoted attribute. Bytes that are not UTF-8, and characters that XML
/// forbids, become U+FFFD.
std::string xml_escape(std::string_view text);

/// How many characters UTF-8 text shows, about.
int64_t count_characters(std::string_view text);

}  // namespace fovea
