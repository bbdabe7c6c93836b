// Kernels that move memory: dtype conversion, filling, strided copies and transposes.
//
// Raw arrays, no alignment needed, no overlap between source and destination, n may be 0; no
// allocation, no exception, calling thread only. Strides and counts are in elements.
#pragma once

#include <cstdint>

namespace fovea::kernels {

// y[i] = To(x[i]) between float, double, int64 and bool (stored as uint8_t, 0 or 1), all sixteen
// pairs. To bool: x != 0, so NaN is true. To int64: truncated towards 0; NaN and what int64 cannot
// hold become the smallest int64. double to float rounds to nearest, overflow to inf.
template <class From, class To>
void convert(const From* x, To* y, std::int64_t n);

// y[i] = value. T: float, double, int64_t, uint8_t.
template <class T>
void fill(T* y, T value, std::int64_t n);

// dst[i * dst_stride] = src[i * src_stride]; strides may be 0 or negative. T: float, double,
// int64_t, uint8_t.
template <class T>
void strided_copy(const T* src, std::int64_t src_stride, T* dst, std::int64_t dst_stride,
                  std::int64_t n);

// dst[c * rows + r] = src[r * src_row_stride + c], r in [0, rows), c in [0, cols): dst is the
// contiguous transpose (cols, rows). T: float, double, int64_t, uint8_t.
template <class T>
void transpose_copy(const T* src, std::int64_t src_row_stride, T* dst, std::int64_t rows,
                    std::int64_t cols);

// The same into rows of dst that lie dst_row_stride >= rows apart.
template <class T>
void transpose_copy(const T* src, std::int64_t src_row_stride, T* dst, std::int64_t dst_row_stride,
                    std::int64_t rows, std::int64_t cols);

}  // namespace fovea::kernels
