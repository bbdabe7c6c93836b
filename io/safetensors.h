// safetensors: named tensors in one file, which Python, Rust and browsers read too.
//
//     8 bytes   n, the length of the header, little-endian
//     n bytes   JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
//               "__metadata__": {"text": "text"}}
//     the rest  the elements, row-major and little-endian, without holes
//
// Source: https://github.com/huggingface/safetensors, README, section "Format".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/core/tensor.h"

namespace fovea {

/// Tensors by name, in an order, and free text about them.
struct TensorMap {
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::map<std::string, std::string> metadata;

  /// The tensor of that name, or null.
  const Tensor* find(std::string_view name) const;
};

/// Writes atomically (io/file.h), in the order given; any strides, f32, f64, i64 and bool. The data
/// start at a multiple of 8 bytes and wider elements come first, so every tensor is aligned.
/// ValueError on a name that occurs twice or is "__metadata__", on an undefined tensor, and on text
/// that is not UTF-8; IoError when the file cannot be written.
void write_safetensors(const std::string& path, const TensorMap& map);

/// Reads such a file in the order of its header. F32, F64, I64 and BOOL come back bit by bit; F16
/// and BF16 become f32, I32 and U8 become i64. The file is trusted in nothing: IoError names the
/// file and the tensor on other dtypes, a header longer than the file or 100 MB, invalid JSON,
/// duplicate names, negative or overflowing shapes, rank above 8, a shape that does not fill its
/// offsets, offsets out of range, overlapping or with holes between them, and booleans that are
/// neither 0 nor 1.
TensorMap read_safetensors(const std::string& path);

}  // namespace fovea
