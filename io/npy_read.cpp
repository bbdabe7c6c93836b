#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "fovea/io/elements.h"
#include "fovea/io/file.h"
#include "fovea/io/half.h"
#include "fovea/io/npy.h"
#include "fovea/io/npy_header.h"
#include "fovea/io/unexpected.h"

namespace fovea {
namespace {

using detail::Half;
using detail::unexpected;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kPrefix = 8;  // the magic and the version

/// Widens elements of the file, in the other byte order when `swap`.
template <class From, class To>
void load(const char* from, bool swap, const Tensor& to) {
  To* out = to.data<To>();
  const int64_t n = to.numel();
  if (std::is_same_v<From, To> && !swap) {
    if (n > 0) std::memcpy(out, from, static_cast<size_t>(n) * sizeof(From));
    return;
  }
  for (int64_t i = 0; i < n; ++i, from += sizeof(From)) {
    std::array<char, sizeof(From)> bytes;
    std::memcpy(bytes.data(), from, sizeof(From));
    if (swap) std::reverse(bytes.begin(), bytes.end());
    out[i] = static_cast<To>(std::bit_cast<From>(bytes));
  }
}

/// A dtype of the format without its byte order, and what it becomes here.
struct FileType {
  std::string_view code;
  int64_t width;
  DType dtype;
  void (*load)(const char* from, bool swap, const Tensor& to);
};
constexpr FileType kTypes[] = {
    {"f4", 4, f32, load<float, float>},      {"f8", 8, f64, load<double, double>},
    {"i8", 8, i64, load<int64_t, int64_t>},  {"b1", 1, boolean, load<uint8_t, uint8_t>},
    {"f2", 2, f32, load<Half, float>},       {"i4", 4, i64, load<int32_t, int64_t>},
    {"i2", 2, i64, load<int16_t, int64_t>},  {"i1", 1, i64, load<int8_t, int64_t>},
    {"u4", 4, i64, load<uint32_t, int64_t>}, {"u2", 2, i64, load<uint16_t, int64_t>},
    {"u1", 1, i64, load<uint8_t, int64_t>}};

std::string_view kind(char code) {
  switch (code) {
    case 'O':
      return " (Python objects)";
    case 'U':
    case 'S':
    case 'a':
      return " (text)";
    case 'c':
      return " (complex numbers)";
    case 'V':
      return " (raw bytes)";
    case 'M':
    case 'm':
      return " (times)";
    default:
      return "";
  }
}

const FileType& type_of(std::string_view descr, const std::string& where) {
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const FileType& t) {
    // '|' says that the order does not matter, which is so for single bytes only.
    return descr.size() == 3 && descr.substr(1) == t.code &&
           std::string_view(t.width == 1 ? "|<>" : "<>").find(descr[0]) != descr.npos;
  });
  if (type == std::end(kTypes)) {
    unexpected(
        where, "dtype f2, f4, f8, i1, i2, i4, i8, u1, u2, u4 or b1, as '<f4' or '>f4'",
        fmt::format("{}{}", detail::quoted(descr), kind(descr.size() > 1 ? descr[1] : '\0')));
  }
  return *type;
}

/// The text of the header; `bytes` loses all up to its end.
std::string_view take_header(std::string_view& bytes, const std::string& where) {
  if (!looks_npy(bytes)) {
    unexpected(where, "a .npy file, which begins with '\\x93NUMPY'", detail::beginning(bytes));
  }
  if (bytes.size() < kPrefix) unexpected(where, "a version after '\\x93NUMPY'", "the end");
  const int major = static_cast<uint8_t>(bytes[6]), minor = static_cast<uint8_t>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0) {
    unexpected(where, "version 1.0, 2.0 or 3.0", fmt::format("{}.{}", major, minor));
  }
  const size_t width = major == 1 ? 2 : 4;
  if (bytes.size() < kPrefix + width) {
    unexpected(where, fmt::format("a header length of {} bytes", width),
               fmt::format("{} bytes up to the end", bytes.size() - kPrefix));
  }
  size_t length = 0;
  std::memcpy(&length, bytes.data() + kPrefix, width);
  bytes.remove_prefix(kPrefix + width);
  if (length > bytes.size()) {
    unexpected(where, fmt::format("a header of {} bytes", length),
               fmt::format("{} bytes up to the end", bytes.size()));
  }
  const std::string_view header = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return header;
}

/// The elements must be there before memory is taken for them.
void check_size(const npy::Header& header, const FileType& type, size_t found,
                const std::string& where) {
  const auto numel = detail::elements_of(header.shape);
  if (!numel) {
    unexpected(where, "at most 2^59 elements",
               fmt::format("shape {} of '{}'", header.shape.str(), type.code));
  }
  const int64_t bytes = *numel * type.width;
  if (static_cast<size_t>(bytes) != found) {
    unexpected(where,
               fmt::format("{} bytes of elements for shape {} of '{}'", bytes, header.shape.str(),
                           type.code),
               fmt::format("{}", found));
  }
}

void check_truth(const Tensor& t, const std::string& where) {
  const auto* bits = t.data<uint8_t>();
  const auto* bad = std::find_if(bits, bits + t.numel(), [](uint8_t b) { return b > 1; });
  if (bad != bits + t.numel()) {
    unexpected(where, "booleans of 0 or 1", fmt::format("{} in element {}", *bad, bad - bits));
  }
}

}  // namespace

bool looks_npy(std::string_view bytes) { return bytes.substr(0, kMagic.size()) == kMagic; }

Tensor decode_npy(std::string_view bytes, const std::string& where) {
  const npy::Header header = npy::parse_header(take_header(bytes, where), where);
  const FileType& type = type_of(header.descr, where);
  check_size(header, type, bytes.size(), where);
  // Column-major elements are those of the transposed tensor, row-major.
  const bool transposed = header.fortran_order && header.shape.rank() > 1;
  Shape shape = header.shape, axes = header.shape;
  if (transposed) std::reverse(shape.begin(), shape.end());
  const Tensor t = Tensor::empty(shape, type.dtype);
  type.load(bytes.data(), header.descr[0] == '>', t);
  if (type.dtype == boolean) check_truth(t, where);
  if (!transposed) return t;
  for (int i = 0; i < axes.rank(); ++i) axes[i] = axes.rank() - 1 - i;
  return t.permute(axes).contiguous();
}

Tensor read_npy(const std::string& path) {
  return decode_npy(read_file(path), fmt::format("read_npy: '{}'", path));
}

}  // namespace fovea
