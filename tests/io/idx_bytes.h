// IDX and gzip files made by hand.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::testing {

/// The header of an IDX file: 00 00 type rank and the big-endian sizes.
inline std::string idx_header(const std::vector<uint32_t>& sizes, char type = 0x08) {
  std::string s{'\0', '\0', type, static_cast<char>(sizes.size())};
  for (uint32_t n : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) s += static_cast<char>(n >> shift & 255);
  }
  return s;
}

inline std::string gzip(const std::string& bytes) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, bytes.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

}  // namespace fovea::testing
