// C = alpha op(A) op(B) + beta C, row-major, over OpenBLAS at one thread.
//
// op(A): (m, k), op(B): (k, n), C: (m, n); ta, tb: op is the transpose, so A is stored (k, m) and
// B (n, k). lda, ldb, ldc: elements from one stored row to the next, at least a row's length.
//
// The last bits of a product depend on the shape OpenBLAS sees. A product is therefore cut into
// tiles by (m, n, k) alone, and gemm() runs those very tiles one after another: whoever runs them
// in parallel, on any number of threads, gets the same bits.
//
// beta = 0 overwrites C whatever it held, NaN included. k = 0 gives beta C. alpha must not be 0:
// BLAS would then skip the product and with it the NaN or inf that 0 * A * B contains.
// Throws ValueError where a size or stride does not fit the 32 bits of BLAS.
#pragma once

#include <cstdint>

namespace fovea::kernels {

struct GemmTiling {
  int64_t m = 0, n = 0;            // of the whole product
  int64_t tile_m = 1, tile_n = 1;  // of one tile; tiles at the far edges may be smaller
  int64_t rows() const { return (m + tile_m - 1) / tile_m; }
  int64_t cols() const { return (n + tile_n - 1) / tile_n; }
  int64_t tiles() const { return rows() * cols(); }
};

// One tile below a million multiply-adds; two or four slices, then tiles of at most 512 x 512 in
// multiples of four.
GemmTiling gemm_tiling(int64_t m, int64_t n, int64_t k);

// Tile `index` in [0, tiles()) of the product; the arguments are those of the whole product.
void gemm_tile(const GemmTiling& tiling, int64_t index, bool ta, bool tb, int64_t k, float alpha,
               const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
               int64_t ldc);
void gemm_tile(const GemmTiling& tiling, int64_t index, bool ta, bool tb, int64_t k, double alpha,
               const double* a, int64_t lda, const double* b, int64_t ldb, double beta, double* c,
               int64_t ldc);

// All tiles in order.
void gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
          int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc);
void gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
          int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc);

}  // namespace fovea::kernels
