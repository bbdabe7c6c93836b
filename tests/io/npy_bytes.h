// .npy files made by hand, and tensors and their bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/core/tensor.h"

namespace fovea::testing {

template <class T>
Tensor tensor_of(const Shape& shape, const std::vector<T>& values) {
  Tensor t = Tensor::empty(shape, dtype_of<T>());
  std::copy(values.begin(), values.end(), t.data<T>());
  return t;
}

/// The elements of a contiguous tensor as they stand in memory.
inline std::string raw_bytes(const Tensor& t) {
  return std::string(t.raw(), static_cast<size_t>(t.numel() * item_size(t.dtype())));
}

/// A number in `width` little-endian bytes.
inline std::string little(uint64_t n, int width) {
  std::string s;
  for (int i = 0; i < width; ++i) s += static_cast<char>(n >> 8 * i & 255);
  return s;
}

inline std::string npy_file(const std::string& header, const std::string& data, int major = 1) {
  return "\x93NUMPY" + little(static_cast<uint64_t>(major), 1) + std::string(1, '\0') +
         little(header.size(), major == 1 ? 2 : 4) + header + data;
}

inline std::string npy_dict(const std::string& descr, const std::string& shape,
                            const std::string& fortran_order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran_order + ", 'shape': " + shape +
         "}\n";
}

}  // namespace fovea::testing
