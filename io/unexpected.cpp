#include "fovea/io/unexpected.h"

#include <fmt/format.h>

#include <cstdint>

#include "fovea/core/error.h"
#include "fovea/io/gzip.h"
#include "fovea/io/npy.h"

namespace fovea::detail {

void unexpected(const std::string& where, std::string_view expected, std::string_view found) {
  throw IoError(fmt::format("{}: expected {}, found {}", where, expected, found));
}

std::string quoted(std::string_view bytes) {
  constexpr size_t kShown = 40;
  std::string s = "'";
  for (const char c : bytes.substr(0, kShown)) {
    if (c >= ' ' && c <= '~') {
      s += c;
    } else {
      s += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    }
  }
  return s + (bytes.size() > kShown ? "...'" : "'");
}

std::string shown(std::string_view name) {
  std::string s;
  for (const char c : name) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte == 0x7F) {
      s += fmt::format("\\x{:02x}", byte);
    } else {
      s += c;
    }
  }
  return s;
}

std::string beginning(std::string_view bytes) {
  if (bytes.empty()) return "0 bytes";
  if (looks_gzipped(bytes)) return "a gzip file; gunzip it";
  if (bytes.substr(0, 4) == "PK\3\4") return "a zip archive, which read_npz reads when it is whole";
  if (looks_npy(bytes)) return "a .npy file, which read_npy reads";
  const size_t text = bytes.find_first_not_of(" \t\r\n");
  if (text != bytes.npos && bytes[text] == '<') return "a web page; fetch the file again";
  if (bytes.substr(0, 8) == "version ") return "a Git LFS pointer; run git lfs pull";
  return quoted(bytes.substr(0, 8));
}

}  // namespace fovea::detail
