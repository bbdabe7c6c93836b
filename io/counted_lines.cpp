#include "fovea/io/counted_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "fovea/io/unexpected.h"

namespace fovea::detail {

std::vector<std::string_view> counted_lines(std::string_view text, const std::string& what,
                                            std::string_view head) {
  std::vector<std::string_view> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    if (end == text.npos) {
      unexpected(fmt::format("{} line {}", what, lines.size() + 1), "a newline at its end",
                 quoted(text.substr(at)));
    }
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const std::string_view first = lines.empty() ? "" : lines[0];
  const std::string_view number = first.substr(std::min(first.size(), head.size() + 1));
  size_t count = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), count);
  if (first.substr(0, head.size() + 1) != std::string(head) + " " || read.ec != std::errc{} ||
      read.ptr != number.data() + number.size()) {
    unexpected(what + " line 1", fmt::format("\"{} N\"", head), quoted(first));
  }
  lines.erase(lines.begin());
  if (lines.size() != count) {
    unexpected(what, fmt::format("{} lines after the first", count),
               fmt::format("{}", lines.size()));
  }
  return lines;
}

}  // namespace fovea::detail
