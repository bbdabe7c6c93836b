// Zip archives, as far as .npz needs them: one disk, no encryption, stored or deflated.
//
//     for each member   a local header, the name, the packed bytes
//     for each member   its entry of the directory: name, sizes, CRC-32, where its local header is
//     the end           where the directory is
//
// Sizes and offsets of 32 bits that are all ones stand in 64 bits elsewhere: in the extra field of
// the entry, or in a second end before the first (ZIP64).
//
// Source: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, sections 4.3 to 4.5.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/io/file.h"

namespace fovea::zip {

enum Method : uint16_t { kStored = 0, kDeflated = 8 };
enum Flag : uint16_t { kEncrypted = 1 << 0, kSizesFollow = 1 << 3, kUtf8 = 1 << 11 };

/// One entry of the directory.
struct Member {
  std::string name = {};
  uint16_t flags = 0, method = kStored;
  uint32_t crc = 0;
  uint64_t packed = 0;  ///< bytes in the file
  uint64_t size = 0;    ///< bytes once unpacked
  uint64_t header = 0;  ///< where the local header begins
  uint64_t data = 0;    ///< where the packed bytes begin
};

/// The members of an archive in the order of its directory, each with its bytes inside the file and
/// none with those of another. IoError, which `where` begins, when that is not so.
std::vector<Member> read_directory(std::string_view file, const std::string& where);

/// Whether the member is in clear and packed by a method that read_member knows.
bool readable(const Member& member);

/// The bytes of a member, checked against its size and CRC-32. Those of a stored one are part of
/// `file`; those of a deflated one are unpacked to `buffer`.
std::string_view read_member(std::string_view file, const Member& member, std::string& buffer,
                             const std::string& where);

/// What read_member undoes and checks.
std::string deflated(std::string_view bytes);
uint32_t checksum(std::string_view bytes);  ///< CRC-32

/// Writes an archive, a member at a time. The same members give the same bytes at any time: dates
/// are 1980-01-01, the first there is. The sizes of members are always written as ZIP64, so
/// that those above 4 GiB take no path of their own.
class Writer {
 public:
  explicit Writer(AtomicFile& file) : file_(file) {}
  /// The name is UTF-8 and at most 65,535 bytes.
  void add(const std::string& name, std::string_view bytes, Method method);
  /// Writes the directory; the file is left to commit.
  void finish();

 private:
  void write(std::string_view bytes);
  AtomicFile& file_;
  std::string directory_;
  uint64_t at_ = 0, count_ = 0;
};

}  // namespace fovea::zip
