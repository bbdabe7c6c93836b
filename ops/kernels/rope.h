// Rotation of pairs, for rotary position embeddings.
#pragma once

#include <cstdint>

namespace fovea::kernels {

// A run of rows that follow each other at a fixed distance.
template <class T>
struct RopeRows {
  const T* x;         // 2 * pairs elements a row
  std::int64_t step;  // from a row of x to the next
  const T* cos;       // pairs elements a row
  const T* sin;
  std::int64_t table_step;  // from a row of cos, and of sin, to the next; 0: all rows share one
};

// y: (rows, 2 pairs), contiguous, elsewhere than x. With (a, b) the elements of pair i,
// (2i, 2i + 1) or (i, i + pairs):  a' = a cos_i - b sin_i,  b' = a sin_i + b cos_i.
void rope_interleaved(const RopeRows<float>& in, float* y, std::int64_t rows, std::int64_t pairs);
void rope_interleaved(const RopeRows<double>& in, double* y, std::int64_t rows, std::int64_t pairs);
void rope_half(const RopeRows<float>& in, float* y, std::int64_t rows, std::int64_t pairs);
void rope_half(const RopeRows<double>& in, double* y, std::int64_t rows, std::int64_t pairs);

}  // namespace fovea::kernels
