// How a reader complains of a file: what was expected, and what was found.
#pragma once

#include <string>
#include <string_view>

namespace fovea::detail {

/// Throws IoError "WHERE: expected EXPECTED, found FOUND".
[[noreturn]] void unexpected(const std::string& where, std::string_view expected,
                             std::string_view found);

/// Bytes in quotes, on one line whatever they are; after 40 of them an ellipsis.
std::string quoted(std::string_view bytes);

/// A name for a message: whole, its control characters as \xNN. A zero byte would end the message.
std::string shown(std::string_view name);

/// What a file that begins so seems to be: "a gzip file; gunzip it".
std::string beginning(std::string_view bytes);

}  // namespace fovea::detail
