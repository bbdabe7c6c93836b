// IDX files, the format of MNIST and its relatives: 00 00 type rank, the sizes as big-endian 32-bit
// numbers, then the elements. Raw or gzipped, whatever the name says.
//
// Source: LeCun, Cortes, Burges, "The MNIST database of handwritten digits", file formats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/core/tensor.h"

namespace fovea {

/// Elements as they stand in the file, one byte each.
struct IdxData {
  Shape shape;
  std::vector<uint8_t> bytes;  ///< shape.numel() of them, row-major
};

/// Reads a file of unsigned bytes (type 08), rank 1 to 8. IoError names the file, what was expected
/// and what was found: a short file, other types, a web page or archive under the file's name, a
/// file compressed twice, missing or trailing bytes.
IdxData read_idx(const std::string& path);

/// Grey images (N, H, W) as f32 in [0, 1]: byte / 255.
Tensor idx_images(const std::string& path);
/// Labels (N) as i64.
Tensor idx_labels(const std::string& path);

}  // namespace fovea
