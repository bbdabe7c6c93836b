// Products of many rows by one matrix, which is laid out once: in panels of columns that stream
// through the first-level cache. BLAS lays both operands out at every call. f32 and f64. Serial.
#pragma once

#include <cstdint>

namespace fovea::kernels {

// Columns and rows of a panel, 16 KiB. B (k, n) is cut into blocks of kPanelRows rows, one below
// the other, each into panels side by side; past n there are zeros.
template <class T>
inline constexpr int64_t kPanel = 128 / static_cast<int64_t>(sizeof(T));
inline constexpr int64_t kPanelRows = 128;

// Side by side.
template <class T>
constexpr int64_t panels(int64_t n) {
  return (n + kPanel<T> - 1) / kPanel<T>;
}
// Numbers in all panels of B.
template <class T>
constexpr int64_t panels_size(int64_t k, int64_t n) {
  return panels<T>(n) * kPanel<T> * k;
}

// Writes panel p of every block to where it lies among `all`. B is stored in rows ldb apart: (k,
// n), or (n, k) when transposed.
void pack_panel(bool transposed, const float* b, int64_t ldb, int64_t k, int64_t n, int64_t p,
                float* all);
void pack_panel(bool transposed, const double* b, int64_t ldb, int64_t k, int64_t n, int64_t p,
                double* all);

// Whether this machine's vectors are wide enough for panels to be faster than BLAS.
bool panels_suit_machine();

// C = A B, or C += A B, in the columns of panels first ... last - 1. Each element is summed along k
// in one order, a block at a time: its bits are the same whatever m, first and last are.
template <class T>
struct PanelProduct {
  int64_t m, n, k;
  bool transposed;  // A is stored (k, m), else (m, k)
  const T* a;
  int64_t lda;
  const T* panels;  // all of B
  int64_t first, last;
  bool add;
  T* c;  // (m, n)
  int64_t ldc;
};
void panel_product(const PanelProduct<float>& p);
void panel_product(const PanelProduct<double>& p);

}  // namespace fovea::kernels
