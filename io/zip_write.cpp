#include <algorithm>
#include <bit>

#include "fovea/io/zip.h"

namespace fovea::zip {
namespace {

constexpr uint16_t kVersion = 45;  // of the specification: the first with ZIP64
constexpr uint16_t kUnix = 3 << 8;
constexpr uint32_t kPlainFile = 0100644u << 16;     // -rw-r--r--
constexpr uint32_t kFirstDate = 1 << 21 | 1 << 16;  // 1980-01-01 above 00:00
constexpr uint16_t kZip64 = 1;
constexpr uint16_t kIn64Bits16 = 0xFFFF;
constexpr uint32_t kIn64Bits = 0xFFFFFFFF;

static_assert(std::endian::native == std::endian::little, "numbers are written as they stand");

template <class... T>
void put(std::string& s, T... numbers) {
  (s.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
}

}  // namespace

void Writer::write(std::string_view bytes) {
  file_.write(bytes);
  at_ += bytes.size();
}

void Writer::add(const std::string& name, std::string_view bytes, Method method) {
  const std::string packed = method == kDeflated ? deflated(bytes) : std::string();
  const std::string_view data = method == kDeflated ? packed : bytes;
  bool ascii = true;
  for (const char c : name) ascii = ascii && static_cast<uint8_t>(c) < 128;

  // What the local header and the entry of the directory share.
  std::string common;
  put(common, kVersion, static_cast<uint16_t>(ascii ? 0 : kUtf8), uint16_t{method}, kFirstDate,
      checksum(bytes), kIn64Bits, kIn64Bits, static_cast<uint16_t>(name.size()));
  const auto size = uint64_t{bytes.size()}, packed_size = uint64_t{data.size()};

  put(directory_, 'P', 'K', '\1', '\2', static_cast<uint16_t>(kUnix | kVersion));
  directory_ += common;
  put(directory_, uint16_t{28}, uint16_t{0} /*comment*/, uint16_t{0} /*disk*/,
      uint16_t{0} /*attributes*/, kPlainFile, kIn64Bits);
  directory_ += name;
  put(directory_, kZip64, uint16_t{24}, size, packed_size, at_);
  ++count_;

  std::string local;
  put(local, 'P', 'K', '\3', '\4');
  local += common;
  put(local, uint16_t{20});
  local += name;
  put(local, kZip64, uint16_t{16}, size, packed_size);
  write(local);
  write(data);
}

void Writer::finish() {
  const auto size = uint64_t{directory_.size()}, begin = at_;
  write(directory_);
  std::string end;
  // A ZIP64 end only where it must be: NumPy knows an empty archive by beginning with a plain one.
  if (std::max(size, begin) >= kIn64Bits || count_ >= kIn64Bits16) {
    put(end, 'P', 'K', '\6', '\6', uint64_t{44} /*what follows*/, kVersion, kVersion,
        uint64_t{0} /*disks*/, count_, count_, size, begin);
    put(end, 'P', 'K', '\6', '\7', uint32_t{0} /*disk*/, at_, uint32_t{1} /*disks*/);
  }
  const auto count16 = static_cast<uint16_t>(std::min<uint64_t>(count_, kIn64Bits16));
  put(end, 'P', 'K', '\5', '\6', uint32_t{0} /*disks*/, count16, count16,
      static_cast<uint32_t>(std::min<uint64_t>(size, kIn64Bits)),
      static_cast<uint32_t>(std::min<uint64_t>(begin, kIn64Bits)), uint16_t{0} /*comment*/);
  write(end);
}

}  // namespace fovea::zip
