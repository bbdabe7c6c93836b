// The form in which small tables are written as text: a head with the number of lines, then these.
// Not public.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::detail {

/// The lines after the head "HEAD N\n", exactly N, each with its newline. IoError naming `what` and
/// the line, what was expected and what was found.
std::vector<std::string_view> counted_lines(std::string_view text, const std::string& what,
                                            std::string_view head);

}  // namespace fovea::detail
