#include <cblas.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "fovea/core/error.h"
#include "fovea/ops/kernels/blas.h"
#include "fovea/ops/kernels/gemm.h"
#include "ops/kernels_targets.h"

namespace {

namespace k = fovea::kernels;
using fovea::testing::normal_values;

template <class T>
class KernelsGemm : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsGemm, Floats);

// Against the definition in double; strides with `pad` extra elements a row.
template <class T>
void check(bool ta, bool tb, int64_t m, int64_t n, int64_t kk, T alpha, T beta, int64_t pad) {
  SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(kk) +
               (ta ? " T" : " N") + (tb ? "T" : "N"));
  const int64_t lda = (ta ? m : kk) + pad, ldb = (tb ? kk : n) + pad, ldc = n + pad;
  const auto a = normal_values<T>((ta ? kk : m) * lda, 1);
  const auto b = normal_values<T>((tb ? n : kk) * ldb, 2);
  const T nan = std::numeric_limits<T>::quiet_NaN();
  auto c = normal_values<T>(m * ldc, 3);
  if (beta == T(0)) c.assign(c.size(), nan);  // whatever was there is overwritten
  const auto before = c;
  k::gemm(ta, tb, m, n, kk, alpha, a.data(), lda, b.data(), ldb, beta, c.data(), ldc);
  const double unit = sizeof(T) == 4 ? 1.2e-7 : 2.3e-16;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double right = 0, size = 0;
      for (int64_t p = 0; p < kk; ++p) {
        const double term = double(ta ? a[p * lda + i] : a[i * lda + p]) *
                            double(tb ? b[j * ldb + p] : b[p * ldb + j]);
        right += term, size += std::fabs(term);
      }
      right *= double(alpha), size *= std::fabs(double(alpha));
      if (beta != T(0)) {
        right += double(beta) * double(before[i * ldc + j]);
        size += std::fabs(double(beta) * double(before[i * ldc + j]));
      }
      const double bound = unit * size * (4 + std::sqrt(double(kk)));
      ASSERT_TRUE(std::fabs(double(c[i * ldc + j]) - right) <= bound)
          << i << "," << j << ": " << c[i * ldc + j] << ", want " << right;
    }
    if (i + 1 < m) {  // what lies between the rows is not touched
      for (int64_t j = n; j < ldc; ++j) {
        ASSERT_EQ(std::memcmp(&c[i * ldc + j], &before[i * ldc + j], sizeof(T)), 0);
      }
    }
  }
}

TYPED_TEST(KernelsGemm, EqualsTheDefinition) {
  using T = TypeParam;
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      for (int64_t m : {1, 2, 3, 17, 70}) {
        for (int64_t n : {1, 2, 5, 33, 64}) {
          for (int64_t kk : {0, 1, 3, 16, 65}) {
            check<T>(ta, tb, m, n, kk, T(1), T(0), 0);
            check<T>(ta, tb, m, n, kk, T(0.5), T(-2), 3);
          }
        }
      }
      check<T>(ta, tb, 130, 600, 70, T(1), T(0), 0);   // several tiles
      check<T>(ta, tb, 1, 1500, 900, T(1), T(0), 2);   // a row
      check<T>(ta, tb, 1, 600, 4500, T(1), T(0), 2);   // one whose slices are large still: gemv
      check<T>(ta, tb, 600, 1, 4500, T(1), T(1), 3);   // and a column
      check<T>(ta, tb, 1500, 1, 900, T(2), T(1), 2);   // a column
      check<T>(ta, tb, 1100, 3, 400, T(1), T(1), 0);   // thin
      check<T>(ta, tb, 33, 47, 1000, T(-1), T(0), 1);  // two tiles or one
    }
  }
}

TYPED_TEST(KernelsGemm, EmptyProducts) {
  using T = TypeParam;
  const T* none = nullptr;
  std::vector<T> c(12, std::numeric_limits<T>::quiet_NaN());
  k::gemm(false, false, 3, 4, 0, T(1), none, 1, none, 4, T(0), c.data(), 4);
  for (T v : c) EXPECT_EQ(v, T(0));
  k::gemm(false, false, 0, 4, 3, T(1), none, 3, none, 4, T(0), static_cast<T*>(nullptr), 4);
  k::gemm(false, false, 3, 0, 3, T(1), none, 3, none, 1, T(0), static_cast<T*>(nullptr), 1);
}

TYPED_TEST(KernelsGemm, NanAndInfinityPropagate) {
  using T = TypeParam;
  for (int64_t n : {2, 20, 120, 300}) {
    auto a = normal_values<T>(n * n, 1);
    std::vector<T> b(n * n, T(0)), c(n * n);
    a[0] = std::numeric_limits<T>::quiet_NaN();
    a[n + 1] = std::numeric_limits<T>::infinity();
    k::gemm(false, false, n, n, n, T(1), a.data(), n, b.data(), n, T(0), c.data(), n);
    for (int64_t j = 0; j < n; ++j) {
      EXPECT_TRUE(std::isnan(c[j])) << n;      // NaN * 0
      EXPECT_TRUE(std::isnan(c[n + j])) << n;  // inf * 0
    }
    if (n > 2) {
      EXPECT_EQ(c[n * n - 1], T(0));
    }
  }
}

TYPED_TEST(KernelsGemm, TilesCoverTheProductAndGiveItsBits) {
  using T = TypeParam;
  const std::vector<std::vector<int64_t>> shapes{
      {300, 500, 70}, {1030, 257, 65}, {1, 4000, 600}, {64, 700, 300}, {2000, 40, 128}};
  for (const auto& s : shapes) {
    const int64_t m = s[0], n = s[1], kk = s[2];
    const auto tiling = k::gemm_tiling(m, n, kk);
    EXPECT_GT(tiling.tiles(), 1);
    const auto a = normal_values<T>(m * kk, 1), b = normal_values<T>(n * kk, 2);
    std::vector<T> whole(m * n), parts(m * n);
    k::gemm(false, true, m, n, kk, T(1), a.data(), kk, b.data(), kk, T(0), whole.data(), n);
    std::thread other([&] {
      for (int64_t i = tiling.tiles() - 1; i >= 0; i -= 2) {
        k::gemm_tile(tiling, i, false, true, kk, T(1), a.data(), kk, b.data(), kk, T(0),
                     parts.data(), n);
      }
    });
    for (int64_t i = tiling.tiles() - 2; i >= 0; i -= 2) {
      k::gemm_tile(tiling, i, false, true, kk, T(1), a.data(), kk, b.data(), kk, T(0), parts.data(),
                   n);
    }
    other.join();
    EXPECT_EQ(std::memcmp(whole.data(), parts.data(), whole.size() * sizeof(T)), 0) << m;
  }
}

TEST(KernelsGemmTiling, SmallIsOneTileAndLargeIsCut) {
  EXPECT_EQ(k::gemm_tiling(64, 64, 64).tiles(), 1);
  EXPECT_EQ(k::gemm_tiling(0, 64, 64).tiles(), 0);
  EXPECT_EQ(k::gemm_tiling(1024, 1024, 1024).tiles(), 4);
  for (int64_t m : {1, 3, 65, 128, 500, 513, 768, 1500, 3200, 50257}) {
    for (int64_t n : {1, 10, 64, 257, 768, 1025, 3072}) {
      for (int64_t kk : {64, 768, 4096}) {
        const auto t = k::gemm_tiling(m, n, kk);
        EXPECT_GE(t.rows() * t.tile_m, m);
        EXPECT_LT((t.rows() - 1) * t.tile_m, m);
        EXPECT_GE(t.cols() * t.tile_n, n);
        EXPECT_LT((t.cols() - 1) * t.tile_n, n);
        EXPECT_TRUE(std::min(m, n) <= 4 || t.tiles() == 1 || t.tile_m <= 512) << m << " " << n;
      }
    }
  }
}

TEST(KernelsGemmErrors, StridesMustFitBlas) {
  std::vector<float> a(64), b(64), c(64);
  const int64_t huge = int64_t{1} << 33;
  EXPECT_THROW(k::gemm(false, false, 8, 8, 8, 1.f, a.data(), huge, b.data(), 8, 0.f, c.data(), 8),
               fovea::ValueError);
  // The stride of a single row means nothing.
  k::gemm(false, false, 1, 8, 8, 1.f, a.data(), huge, b.data(), 8, 0.f, c.data(), huge);
}

TEST(KernelsBlas, OneThreadAndAModernCore) {
  k::prepare_blas();
  EXPECT_EQ(openblas_get_num_threads(), 1);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    const std::string core = k::blas_core();
    EXPECT_NE(core, "Prescott") << "OpenBLAS runs SSE code on a processor with AVX2";
  }
#endif
}

}  // namespace
