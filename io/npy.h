// .npy: one tensor in a file, as NumPy saves it.
//
//     6 bytes   93 'NUMPY'
//     2 bytes   the version: 1.0, 2.0 or 3.0
//     2 bytes   n, the length of the header, little-endian; 4 bytes from version 2.0 on
//     n bytes   a Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//     the rest  the elements
//
// Source: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
#pragma once

#include <string>
#include <string_view>

#include "fovea/core/tensor.h"

namespace fovea {

/// Writes atomically (io/file.h) what numpy.load reads; any strides, f32, f64, i64 and bool, as
/// '<f4', '<f8', '<i8' and '|b1', row-major. ValueError on an undefined tensor; IoError when the
/// file cannot be written.
void write_npy(const std::string& path, const Tensor& t);

/// Reads such a file, row-major whatever its order. '<f4', '<f8', '<i8' and '|b1' come back bit by
/// bit; '<f2' becomes f32, '<i4', '<i2', '|i1', '<u4', '<u2' and '|u1' become i64; big-endian ones
/// alike. The file is trusted in nothing: IoError names the file, what was expected and what was
/// found, on other dtypes (objects, structures, text, complex, u8), a header cut off, malformed or
/// longer than the file, negative or overflowing sizes, rank above 8, elements missing or left
/// over, booleans that are neither 0 nor 1, and a file of another format.
Tensor read_npy(const std::string& path);

/// The bytes of such a file.
std::string encode_npy(const Tensor& t);

/// Whether the bytes begin as a .npy file does.
bool looks_npy(std::string_view bytes);

/// The tensor of such bytes. `where` begins the errors.
Tensor decode_npy(std::string_view bytes, const std::string& where);

}  // namespace fovea
