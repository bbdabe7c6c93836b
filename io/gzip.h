// Reading .gz files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea {

/// Whether the bytes begin as a gzip file does: 1F 8B.
bool looks_gzipped(std::string_view bytes);

/// The content of a file, decompressed once when it is gzipped, whatever its name. A truncated or
/// corrupt stream, bytes after its end, and more than `limit` bytes of content are IoErrors.
std::string read_maybe_gzip(const std::string& path, int64_t limit = int64_t{1} << 32);

}  // namespace fovea
