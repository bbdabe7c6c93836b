#include <fmt/format.h>

#include <bit>

#include "fovea/core/error.h"
#include "fovea/io/file.h"
#include "fovea/io/npy.h"

namespace fovea {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they stand");

const char* descr(DType t) {
  switch (t) {
    case DType::boolean:
      return "|b1";
    case DType::i64:
      return "<i8";
    case DType::f32:
      return "<f4";
    default:
      return "<f8";
  }
}

/// A Python tuple: "()", "(3,)", "(2, 3)".
std::string tuple(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape.begin(), shape.end(), ", "),
                     shape.rank() == 1 ? "," : "");
}

/// All before the elements, which begin at a multiple of 64 bytes as NumPy's do.
std::string header(const Tensor& t) {
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                 descr(t.dtype()), tuple(t.shape()));
  constexpr size_t kBefore = 10;  // the magic, the version 1.0 and the length
  dict.append((64 - (kBefore + dict.size() + 1) % 64) % 64, ' ');
  dict += '\n';
  std::string s("\x93NUMPY\x01\x00", 8);
  s += static_cast<char>(dict.size() & 255);
  s += static_cast<char>(dict.size() >> 8);
  return s + dict;
}

}  // namespace

std::string encode_npy(const Tensor& t) {
  if (!t.defined()) throw ValueError("encode_npy: the tensor is undefined");
  const Tensor rows = t.detach().contiguous();
  const auto bytes = static_cast<size_t>(rows.numel() * item_size(rows.dtype()));
  std::string s = header(rows);
  s.reserve(s.size() + bytes);
  if (bytes > 0) s.append(rows.raw(), bytes);
  return s;
}

void write_npy(const std::string& path, const Tensor& t) {
  write_file_atomically(path, encode_npy(t));
}

}  // namespace fovea
