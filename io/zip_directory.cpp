// The directory of a zip archive, read.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "fovea/io/unexpected.h"
#include "fovea/io/zip.h"

namespace fovea::zip {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they stand");

using detail::unexpected;

constexpr std::string_view kLocal = "PK\3\4", kEntry = "PK\1\2", kEnd = "PK\5\6", kEnd64 = "PK\6\6",
                           kLocator64 = "PK\6\7";
constexpr uint64_t kLocalSize = 30, kEntrySize = 46, kEndSize = 22, kEnd64Size = 56,
                   kLocator64Size = 20;
constexpr uint64_t kOnes16 = 0xFFFF, kOnes32 = 0xFFFFFFFF;

/// A number of `width` bytes; the caller has checked that they are there.
uint64_t number(std::string_view record, size_t at, size_t width) {
  uint64_t n = 0;
  std::memcpy(&n, record.data() + at, width);
  return n;
}

/// Where the directory is: bytes [begin, end) of the file.
struct Directory {
  uint64_t begin = 0, end = 0, count = 0;
};

class Reader {
 public:
  Reader(std::string_view file, const std::string& where) : file_(file), where_(where) {}

  std::vector<Member> members() const {
    const Directory d = directory();
    std::vector<Member> members;  // the count is checked by reading, not trusted for memory
    uint64_t at = d.begin;
    for (uint64_t i = 0; i < d.count; ++i) {
      members.push_back(entry(at, d.end));
      find_data(members.back(), d.begin);
    }
    if (at != d.end) {
      unexpected(where_, fmt::format("{} members to fill the directory", d.count),
                 fmt::format("{} bytes after them", d.end - at));
    }
    check_overlap(members);
    return members;
  }

 private:
  /// The bytes of a record that must lie before `end` and begin with its signature.
  std::string_view record(uint64_t at, uint64_t size, uint64_t end, std::string_view signature,
                          std::string_view what) const {
    if (at > end || size > end - at) {
      unexpected(where_, fmt::format("{} of {} bytes at byte {}", what, size, at),
                 at > end ? "the end before" : fmt::format("{} bytes there", end - at));
    }
    const std::string_view bytes = file_.substr(at, size);
    if (bytes.substr(0, 4) != signature) {
      unexpected(where_, fmt::format("{} at byte {}", what, at),
                 detail::quoted(bytes.substr(0, 4)));
    }
    return bytes;
  }

  /// The end stands before a comment that reaches the end of the file.
  std::optional<uint64_t> find_end() const {
    if (file_.size() < kEndSize) return {};
    const uint64_t last = file_.size() - kEndSize;
    for (uint64_t comment = 0; comment <= std::min(last, kOnes16); ++comment) {
      const std::string_view end = file_.substr(last - comment);
      if (end.substr(0, 4) == kEnd && number(end, 20, 2) == comment) return last - comment;
    }
    return {};
  }

  Directory directory() const {
    const auto found = find_end();
    if (!found) {
      unexpected(where_, "a zip archive that ends in its directory", detail::beginning(file_));
    }
    uint64_t at = *found;
    const std::string_view end = file_.substr(at, kEndSize);
    uint64_t disks = number(end, 4, 2) | number(end, 6, 2);
    uint64_t here = number(end, 8, 2), count = number(end, 10, 2);
    uint64_t size = number(end, 12, 4), begin = number(end, 16, 4);
    const bool large = count == kOnes16 || size == kOnes32 || begin == kOnes32;
    if (large && at >= kLocator64Size && file_.substr(at - kLocator64Size, 4) == kLocator64) {
      at -= kLocator64Size;
      const uint64_t before = at;
      at = number(file_, before + 8, 8);
      const std::string_view end64 = record(at, kEnd64Size, before, kEnd64, "a ZIP64 end");
      disks = number(end64, 16, 4) | number(end64, 20, 4);
      here = number(end64, 24, 8);
      count = number(end64, 32, 8);
      size = number(end64, 40, 8);
      begin = number(end64, 48, 8);
    }
    if (disks != 0 || here != count) unexpected(where_, "a zip archive in one file", "a part");
    if (begin > at || size > at - begin) {
      unexpected(where_, fmt::format("the directory before byte {}, where its end stands", at),
                 fmt::format("{} bytes from byte {}", size, begin));
    }
    return {begin, begin + size, count};
  }

  /// Moves `at` behind the entry.
  Member entry(uint64_t& at, uint64_t end) const {
    const std::string_view fixed = record(at, kEntrySize, end, kEntry, "a member of the directory");
    const uint64_t name = number(fixed, 28, 2), extra = number(fixed, 30, 2);
    const uint64_t length = kEntrySize + name + extra + number(fixed, 32, 2);
    const std::string_view all = record(at, length, end, kEntry, "a member of the directory");
    at += length;
    Member m;
    m.name = all.substr(kEntrySize, name);
    m.flags = static_cast<uint16_t>(number(all, 8, 2));
    m.method = static_cast<uint16_t>(number(all, 10, 2));
    m.crc = static_cast<uint32_t>(number(all, 16, 4));
    m.packed = number(all, 20, 4);
    m.size = number(all, 24, 4);
    m.header = number(all, 42, 4);
    widen(m, all.substr(kEntrySize + name, extra));
    return m;
  }

  /// Takes the numbers that are all ones from the ZIP64 field, which holds those and no others.
  void widen(Member& m, std::string_view extra) const {
    const std::string where = fmt::format("{}, member {}", where_, detail::quoted(m.name));
    while (!extra.empty()) {
      if (extra.size() < 4 || number(extra, 2, 2) > extra.size() - 4) {
        unexpected(where, "extra fields that end with the entry", detail::quoted(extra));
      }
      std::string_view field = extra.substr(4, number(extra, 2, 2));
      const bool is_zip64 = number(extra, 0, 2) == 1;
      extra.remove_prefix(4 + field.size());
      if (!is_zip64) continue;
      for (uint64_t* n : {&m.size, &m.packed, &m.header}) {
        if (*n != kOnes32) continue;
        if (field.size() < 8)
          unexpected(where, "64-bit sizes", fmt::format("{} bytes", field.size()));
        *n = number(field, 0, 8);
        field.remove_prefix(8);
      }
      return;
    }
  }

  /// The local header repeats what the entry says, and the data follow it.
  void find_data(Member& m, uint64_t end) const {
    const Reader at{file_, fmt::format("{}, member {}", where_, detail::quoted(m.name))};
    const std::string_view fixed = at.record(m.header, kLocalSize, end, kLocal, "a local header");
    const uint64_t name = number(fixed, 26, 2);
    m.data = m.header + kLocalSize + name + number(fixed, 28, 2);
    if (m.data > end || m.packed > end - m.data) {
      unexpected(at.where_, fmt::format("{} bytes of data before the directory", m.packed),
                 fmt::format("{}", end - std::min(m.data, end)));
    }
    const std::string_view local_name = file_.substr(m.header + kLocalSize, name);
    if (local_name != m.name) {
      unexpected(at.where_, "the same name in its local header", detail::quoted(local_name));
    }
    const auto same = [&](std::string_view what, uint64_t local, uint64_t entry) {
      if (local == entry) return;
      unexpected(at.where_, fmt::format("{} {} in its local header", what, entry),
                 fmt::format("{}", local));
    };
    same("method", number(fixed, 8, 2), m.method);
    if ((number(fixed, 6, 2) & kSizesFollow) != 0) return;
    same("CRC-32", number(fixed, 14, 4), m.crc);
    if (number(fixed, 18, 4) != kOnes32) same("packed size", number(fixed, 18, 4), m.packed);
    if (number(fixed, 22, 4) != kOnes32) same("size", number(fixed, 22, 4), m.size);
  }

  /// A small file must not unpack the same bytes a thousand times.
  void check_overlap(const std::vector<Member>& members) const {
    std::vector<const Member*> sorted;
    sorted.reserve(members.size());
    for (const Member& m : members) sorted.push_back(&m);
    std::sort(sorted.begin(), sorted.end(),
              [](const Member* a, const Member* b) { return a->header < b->header; });
    for (size_t i = 1; i < sorted.size(); ++i) {
      const Member &before = *sorted[i - 1], &m = *sorted[i];
      if (m.header >= before.data + before.packed) continue;
      unexpected(fmt::format("{}, member {}", where_, detail::quoted(m.name)), "bytes of its own",
                 fmt::format("those of {}", detail::quoted(before.name)));
    }
  }

  std::string_view file_;
  std::string where_;
};

}  // namespace

std::vector<Member> read_directory(std::string_view file, const std::string& where) {
  return Reader(file, where).members();
}

}  // namespace fovea::zip
