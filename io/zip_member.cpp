// The bytes of one member of a zip archive: stored or deflated, and how long they must be.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>

#include "fovea/core/error.h"
#include "fovea/io/unexpected.h"
#include "fovea/io/zip.h"

namespace fovea::zip {
namespace {

using detail::unexpected;

constexpr int kRaw = -MAX_WBITS;  // deflate without the header of zlib or gzip

using Stream = std::unique_ptr<z_stream, int (*)(z_stream*)>;

void check_started(int status) {
  if (status != Z_OK) throw IoError("zip: zlib could not start; memory may be exhausted");
}

/// Lets zlib work until it stops; its total_in and total_out say how far it came.
int run(z_stream& z, std::string_view in, std::string& out, int (*step)(z_stream*, bool last)) {
  constexpr size_t kPiece = size_t{1} << 30;  // avail_in and avail_out are 32 bits wide
  int status = Z_OK;
  while (status == Z_OK) {
    const size_t left = in.size() - z.total_in;
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data() + z.total_in));
    z.avail_in = static_cast<uInt>(std::min(left, kPiece));
    z.next_out = reinterpret_cast<Bytef*>(out.data() + z.total_out);
    z.avail_out = static_cast<uInt>(std::min<size_t>(out.size() - z.total_out, kPiece));
    status = step(&z, left <= kPiece);
  }
  return status;
}

void unpack(std::string_view packed, uint64_t size, std::string& out, const std::string& where) {
  constexpr uint64_t kMostOfOne = 1032;  // what deflate can make of a byte
  if (size / kMostOfOne > packed.size()) {
    unexpected(
        where,
        fmt::format("{} bytes at most of {} deflated", kMostOfOne * packed.size(), packed.size()),
        fmt::format("a size of {}", size));
  }
  out.resize(size + 1);  // one more, to see whether there is more
  z_stream z{};
  check_started(inflateInit2(&z, kRaw));
  const Stream owner(&z, inflateEnd);
  const int status = run(z, packed, out, [](z_stream* s, bool) { return inflate(s, Z_NO_FLUSH); });
  if (status != Z_STREAM_END && z.total_out <= size) {
    unexpected(where, fmt::format("{} bytes deflated to {}", size, packed.size()),
               fmt::format("damage after byte {} of them: {}", z.total_in,
                           z.msg ? z.msg : "their end comes early"));
  }
  if (z.total_out != size || z.total_in != packed.size()) {
    unexpected(
        where, fmt::format("{} bytes deflated to {}", size, packed.size()),
        z.total_out > size ? "more" : fmt::format("{} deflated to {}", z.total_out, z.total_in));
  }
  out.resize(size);
}

}  // namespace

std::string deflated(std::string_view bytes) {
  z_stream z{};
  check_started(deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kRaw, /*memLevel=*/8,
                             Z_DEFAULT_STRATEGY));
  const Stream owner(&z, deflateEnd);
  std::string out(deflateBound(&z, bytes.size()), '\0');
  const int status = run(z, bytes, out, [](z_stream* s, bool last) {
    return deflate(s, last ? Z_FINISH : Z_NO_FLUSH);
  });
  if (status != Z_STREAM_END) throw IoError("zip: zlib stopped before the end of the bytes");
  out.resize(z.total_out);
  return out;
}

uint32_t checksum(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

bool readable(const Member& m) {
  return (m.flags & kEncrypted) == 0 && (m.method == kStored || m.method == kDeflated);
}

std::string_view read_member(std::string_view file, const Member& m, std::string& buffer,
                             const std::string& where) {
  if ((m.flags & kEncrypted) != 0) unexpected(where, "a member in clear", "an encrypted one");
  if (m.method != kStored && m.method != kDeflated) {
    unexpected(where, "method 0 (stored) or 8 (deflated)", fmt::format("{}", m.method));
  }
  std::string_view bytes = file.substr(m.data, m.packed);
  if (m.method == kDeflated) {
    unpack(bytes, m.size, buffer, where);
    bytes = buffer;
  } else if (m.packed != m.size) {
    unexpected(where, fmt::format("{} bytes, stored", m.size), fmt::format("{}", m.packed));
  }
  if (const uint32_t crc = checksum(bytes); crc != m.crc) {
    unexpected(where, fmt::format("CRC-32 {:08x}", m.crc), fmt::format("{:08x}", crc));
  }
  return bytes;
}

}  // namespace fovea::zip
