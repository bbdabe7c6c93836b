#include "fovea/io/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "fovea/core/error.h"
#include "fovea/io/file.h"

namespace fovea {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;
constexpr size_t kPiece = size_t{1} << 18;

struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, kGzipOnly) != Z_OK) {
      throw IoError("read_maybe_gzip: zlib could not start; memory may be exhausted");
    }
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

std::string decompress(const std::string& path, std::string_view in, int64_t limit) {
  Inflater z;
  std::string out;
  size_t used = 0, filled = 0;
  while (true) {
    // avail_in and avail_out are 32 bits wide: feed both in pieces.
    if (out.size() - filled < kPiece) out.resize(std::max(out.size() * 2, 4 * kPiece));
    z.stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data() + used));
    z.stream.avail_in = static_cast<uInt>(std::min(in.size() - used, kPiece));
    z.stream.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    z.stream.avail_out = static_cast<uInt>(kPiece);
    const uInt offered = z.stream.avail_in;
    const int status = inflate(&z.stream, Z_NO_FLUSH);
    used += offered - z.stream.avail_in;
    filled += kPiece - z.stream.avail_out;
    if (filled > static_cast<size_t>(limit)) {
      throw IoError(fmt::format("read_maybe_gzip: '{}' holds more than {} bytes once decompressed",
                                path, limit));
    }
    if (status == Z_STREAM_END) {
      if (used == in.size()) break;
      // `cat a.gz b.gz` is a valid file: one stream may follow another.
      if (!looks_gzipped(in.substr(used))) {
        throw IoError(fmt::format(
            "read_maybe_gzip: '{}' is damaged: {} bytes follow the end of its gzip stream", path,
            in.size() - used));
      }
      inflateReset(&z.stream);
    } else if (used == in.size() && z.stream.avail_out > 0 &&
               (status == Z_OK || status == Z_BUF_ERROR)) {
      throw IoError(
          fmt::format("read_maybe_gzip: '{}' is truncated: its gzip stream of {} bytes ends early; "
                      "fetch it again",
                      path, in.size()));
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw IoError(fmt::format("read_maybe_gzip: '{}' is damaged near byte {}: {}; fetch it again",
                                path, used, z.stream.msg ? z.stream.msg : "not a gzip stream"));
    }
  }
  out.resize(filled);
  return out;
}

}  // namespace

bool looks_gzipped(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

std::string read_maybe_gzip(const std::string& path, int64_t limit) {
  std::string bytes = read_file(path);
  if (!looks_gzipped(bytes)) return bytes;
  return decompress(path, bytes, limit);
}

}  // namespace fovea
