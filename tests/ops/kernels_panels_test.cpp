#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fovea/ops/kernels/panels.h"
#include "ops/kernels_targets.h"

namespace {

namespace k = fovea::kernels;
using fovea::testing::normal_values;
using fovea::testing::on_every_target;

template <class T>
class KernelsPanels : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsPanels, Floats);

// Every count of rows up to two blocks, columns around every panel, in rows that lie apart.
TYPED_TEST(KernelsPanels, ProductsOfRowsApart) {
  using T = TypeParam;
  on_every_target([] {
    for (int64_t n : {1, 7, 15, 16, 17, 31, 32, 33, 64, 71}) {
      for (int64_t depth : {0, 1, 5, 40}) {
        for (const bool transposed : {false, true}) {
          const int64_t size = k::kPanel<T> * depth;
          const auto b = normal_values<T>(depth * n, 1);
          std::vector<T> panels(static_cast<size_t>(k::panels<T>(n) * size));
          for (int64_t p = 0; p < k::panels<T>(n); ++p) {
            k::pack_panel(transposed, b.data(), depth, n, p, panels.data() + p * size);
          }
          for (int64_t m = 0; m <= 17; ++m) {
            const bool add = m % 2 == 1;
            const int64_t lda = depth + 3, ldc = n + 2;
            const auto a = normal_values<T>(m * lda, 2), before = normal_values<T>(m * ldc, 3);
            auto c = before;
            k::panel_product(m, n, depth, a.data(), lda, panels.data(), add, c.data(), ldc);
            for (int64_t i = 0; i < m * ldc; ++i) {
              const int64_t row = i / ldc, column = i % ldc;
              const double start = static_cast<double>(before[static_cast<size_t>(i)]);
              double want = add || column >= n ? start : 0, scale = std::fabs(want);
              for (int64_t p = 0; p < depth && column < n; ++p) {
                const int64_t at = transposed ? column * depth + p : p * n + column;
                const double term = static_cast<double>(a[static_cast<size_t>(row * lda + p)]) *
                                    static_cast<double>(b[static_cast<size_t>(at)]);
                want += term;
                scale += std::fabs(term);
              }
              ASSERT_NEAR(static_cast<double>(c[static_cast<size_t>(i)]), want,
                          fovea::testing::tolerance<T>() * scale)
                  << m << " x " << n << " x " << depth << " at " << i << " transposed "
                  << transposed;
            }
          }
        }
      }
    }
  });
}

}  // namespace
