#include "fovea/ops/kernels/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <string>

#include "fovea/core/error.h"
#include "fovea/ops/kernels/blas.h"

namespace fovea::kernels {

namespace {

constexpr int64_t kTile = 512;
// Below this many multiply-adds a product is not worth a second thread. It is also where OpenBLAS
// leaves its kernels for small matrices, which beat its gemv.
constexpr int64_t kSmall = 1'000'000;
// Up to this many, a plain loop beats the checks of a call.
constexpr int64_t kTiny = 32;

// m n k without overflow.
double work(int64_t m, int64_t n, int64_t k) {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The extent of each of `parts` slices of `size`, rounded up to whole register tiles.
int64_t slice(int64_t size, int64_t parts) { return ceil_div(ceil_div(size, parts), 16) * 16; }

void call_gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float* a, int lda,
               const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n,
              k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void call_gemm(bool ta, bool tb, int m, int n, int k, double alpha, const double* a, int lda,
               const double* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n,
              k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// y = alpha op(A) x + beta y with A stored (rows, cols).
void call_gemv(bool transposed, int rows, int cols, float alpha, const float* a, int lda,
               const float* x, int x_step, float beta, float* y, int y_step) {
  cblas_sgemv(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, rows, cols, alpha, a, lda, x,
              x_step, beta, y, y_step);
}
void call_gemv(bool transposed, int rows, int cols, double alpha, const double* a, int lda,
               const double* x, int x_step, double beta, double* y, int y_step) {
  cblas_dgemv(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, rows, cols, alpha, a, lda, x,
              x_step, beta, y, y_step);
}

// C = beta C, where beta = 0 does not look at C.
template <class T>
void scale(int64_t m, int64_t n, T beta, T* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i, c += ldc) {
    if (beta == T(0)) {
      std::fill(c, c + n, T(0));
    } else if (beta != T(1)) {
      for (int64_t j = 0; j < n; ++j) c[j] *= beta;
    }
  }
}

template <class T>
void tiny(bool ta, bool tb, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
          const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  const int64_t a_row = ta ? 1 : lda, a_col = ta ? lda : 1;
  const int64_t b_row = tb ? 1 : ldb, b_col = tb ? ldb : 1;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += a[i * a_row + p * a_col] * b[p * b_row + j * b_col];
      T& out = c[i * ldc + j];
      out = beta == T(0) ? alpha * sum : alpha * sum + beta * out;
    }
  }
}

int blas_int(const char* what, int64_t value) {
  if (value < 0 || value > std::numeric_limits<int>::max()) {
    throw ValueError(std::string("gemm: ") + what + " does not fit the 32-bit integers of BLAS: " +
                     std::to_string(value) + "; make the operand contiguous or smaller");
  }
  return static_cast<int>(value);
}

// What BLAS checks strides against. The stride of a matrix of one row means nothing.
int stride(const char* what, int64_t ld, int64_t rows, int64_t cols) {
  return blas_int(what, std::max<int64_t>(1, rows <= 1 ? cols : ld));
}

template <class T>
void product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
             const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  if (m <= 0 || n <= 0) return;
  if (k <= 0 || alpha == T(0)) return scale(m, n, beta, c, ldc);
  if (work(m, n, k) <= kTiny) return tiny(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  prepare_blas();
  const int mm = blas_int("m", m), nn = blas_int("n", n), kk = blas_int("k", k);
  const int sa = ta ? stride("lda", lda, k, m) : stride("lda", lda, m, k);
  const int sb = tb ? stride("ldb", ldb, n, k) : stride("ldb", ldb, k, n);
  const int sc = stride("ldc", ldc, m, n);
  if ((m > 1 && n > 1) || work(m, n, k) <= static_cast<double>(kSmall)) {
    return call_gemm(ta, tb, mm, nn, kk, alpha, a, sa, b, sb, beta, c, sc);
  }
  if (beta == T(0)) scale(m, n, beta, c, ldc);  // some gemv multiply what they find by 0
  if (m == 1) {                                 // c = op(B)' a
    const int step = ta ? blas_int("lda", lda) : 1;
    return call_gemv(!tb, tb ? nn : kk, tb ? kk : nn, alpha, b, sb, a, step, beta, c, 1);
  }
  const int step = tb ? 1 : blas_int("ldb", ldb);
  call_gemv(ta, ta ? kk : mm, ta ? mm : kk, alpha, a, sa, b, step, beta, c, sc);
}

template <class T>
void product_tile(const GemmTiling& t, int64_t index, bool ta, bool tb, int64_t k, T alpha,
                  const T* a, int64_t lda, const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  const int64_t i = index / t.cols() * t.tile_m, j = index % t.cols() * t.tile_n;
  product(ta, tb, std::min(t.tile_m, t.m - i), std::min(t.tile_n, t.n - j), k, alpha,
          a + (ta ? i : i * lda), lda, b + (tb ? j * ldb : j), ldb, beta, c + i * ldc + j, ldc);
}

template <class T>
void whole_product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, T alpha, const T* a,
                   int64_t lda, const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  const GemmTiling t = gemm_tiling(m, n, k);
  const int64_t tiles = t.tiles();
  if (tiles == 1) return product(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  for (int64_t i = 0; i < tiles; ++i) {
    product_tile(t, i, ta, tb, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
}

}  // namespace

GemmTiling gemm_tiling(int64_t m, int64_t n, int64_t k) {
  GemmTiling one{m, n, std::max<int64_t>(m, 1), std::max<int64_t>(n, 1)};
  const double size = work(m, n, k);
  if (size <= static_cast<double>(kSmall)) return one;
  const int64_t least = size < 8e6 ? 2 : 4;
  // Thin products stream the one large operand: long slices, and enough of them.
  const bool thin = std::min(m, n) <= 4;
  int64_t rows = thin ? 1 : ceil_div(m, kTile), cols = thin ? 1 : ceil_div(n, kTile);
  // The longer side of a tile is cut further until there are enough tiles, and a number that
  // deals out evenly; slices thinner than 64 waste the packing.
  while (rows * cols < 16 && (rows * cols < least || (rows * cols > 2 && rows * cols % 4 != 0))) {
    const int64_t height = slice(m, rows), width = slice(n, cols);
    if (std::max(height, width) < 128) break;
    ++(height > width ? rows : cols);
  }
  return {m, n, std::min(m, slice(m, rows)), std::min(n, slice(n, cols))};
}

void gemm_tile(const GemmTiling& tiling, int64_t index, bool ta, bool tb, int64_t k, float alpha,
               const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
               int64_t ldc) {
  product_tile(tiling, index, ta, tb, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void gemm_tile(const GemmTiling& tiling, int64_t index, bool ta, bool tb, int64_t k, double alpha,
               const double* a, int64_t lda, const double* b, int64_t ldb, double beta, double* c,
               int64_t ldc) {
  product_tile(tiling, index, ta, tb, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
          int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  whole_product(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
          int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc) {
  whole_product(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace fovea::kernels
