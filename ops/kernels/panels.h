// Products of few rows by one matrix, again and again: a recurrent layer's state by its weights.
// The matrix is laid out once, in panels of columns that stream through the first-level cache;
// BLAS would do so at every call, or do without, which is slower by a third. f32 and f64. Serial.
#pragma once

#include <cstdint>

namespace fovea::kernels {

// Columns of a panel. Panel p of B (k, n) holds columns [p W, p W + W), row after row; past n there
// are zeros.
template <class T>
inline constexpr int64_t kPanel = 128 / static_cast<int64_t>(sizeof(T));

template <class T>
constexpr int64_t panels(int64_t n) {
  return (n + kPanel<T> - 1) / kPanel<T>;
}

// Panel p of B, of k kPanel numbers. B is stored (k, n), or (n, k) when transposed; no gaps.
void pack_panel(bool transposed, const float* b, int64_t k, int64_t n, int64_t p, float* panel);
void pack_panel(bool transposed, const double* b, int64_t k, int64_t n, int64_t p, double* panel);

// C = A B, or C += A B, with A (m, k) and C (m, n) of rows lda and ldc apart, and all panels of B.
void panel_product(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                   const float* panels, bool add, float* c, int64_t ldc);
void panel_product(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda,
                   const double* panels, bool add, double* c, int64_t ldc);

}  // namespace fovea::kernels
