// Zip archives made by hand.
#pragma once

#include <zlib.h>

#include <string>

#include "idx_bytes.h"
#include "npy_bytes.h"

namespace fovea::testing {

/// How a member is written.
struct ZipStyle {
  bool deflate = false;
  bool descriptor = false;  ///< sizes and CRC-32 behind the data, zeros before them
  bool zip64 = false;       ///< sizes and offset in extra fields
  uint64_t flags = 0;
};

inline uint64_t crc_of(const std::string& s) {
  return crc32(0, reinterpret_cast<const Bytef*>(s.data()), static_cast<uInt>(s.size()));
}

/// The raw deflate stream inside a gzip file: behind 10 bytes, before 8.
inline std::string deflate_of(const std::string& s) {
  const std::string file = gzip(s);
  return file.substr(10, file.size() - 18);
}

class ZipBytes {
 public:
  ZipBytes& add(const std::string& name, const std::string& content, ZipStyle style = {}) {
    const std::string packed = style.deflate ? deflate_of(content) : content;
    const std::string sizes64 = little(content.size(), 8) + little(packed.size(), 8);
    const std::string extra = little(0x5455, 2) + little(3, 2) + "any";  // one to skip
    const std::string local_extra =
        extra + (style.zip64 ? little(1, 2) + little(16, 2) + sizes64 : "");
    const std::string entry_extra =
        extra +
        (style.zip64 ? little(1, 2) + little(24, 2) + sizes64 + little(file_.size(), 8) : "");
    const auto number = [&](uint64_t n) { return little(style.zip64 ? 0xFFFFFFFF : n, 4); };
    const std::string before = little(45, 2) + little(style.flags | (style.descriptor ? 8 : 0), 2) +
                               little(style.deflate ? 8 : 0, 2) + little(0x210000, 4);
    const std::string sums =
        little(crc_of(content), 4) + number(packed.size()) + number(content.size());
    directory_ += "PK\1\2" + little(45, 2) + before + sums + little(name.size(), 2) +
                  little(entry_extra.size(), 2) + little(4, 2) + little(0, 8) +
                  number(file_.size()) + name + entry_extra + "note";
    file_ += "PK\3\4" + before + (style.descriptor ? std::string(12, '\0') : sums) +
             little(name.size(), 2) + little(local_extra.size(), 2) + name + local_extra + packed;
    if (style.descriptor) {
      file_ += "PK\7\x08" + little(crc_of(content), 4) +
               (style.zip64 ? little(packed.size(), 8) + little(content.size(), 8)
                            : little(packed.size(), 4) + little(content.size(), 4));
    }
    ++count_;
    return *this;
  }

  std::string str(bool zip64 = false, const std::string& comment = "") const {
    std::string s = file_ + directory_;
    const uint64_t begin = file_.size(), size = directory_.size();
    if (zip64) {
      s += "PK\6\6" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) +
           little(count_, 8) + little(count_, 8) + little(size, 8) + little(begin, 8);
      s += "PK\6\7" + little(0, 4) + little(begin + size, 8) + little(1, 4);
      s += "PK\5\6" + little(0, 4) + std::string(12, '\xff');
    } else {
      s += "PK\5\6" + little(0, 4) + little(count_, 2) + little(count_, 2) + little(size, 4) +
           little(begin, 4);
    }
    return s + little(comment.size(), 2) + comment;
  }

 private:
  std::string file_, directory_;
  uint64_t count_ = 0;
};

}  // namespace fovea::testing
