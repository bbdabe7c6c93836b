#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/ops/kernels/panels.h"
#include "ops/kernels_targets.h"

namespace {

namespace k = fovea::kernels;
using fovea::testing::normal_values;
using fovea::testing::on_every_target;

// op(X) of X stored in rows ld apart.
template <class T>
struct Stored {
  bool transposed;
  int64_t ld;
  std::vector<T> x;
  Stored(bool t, int64_t rows, int64_t cols, uint64_t seed)
      : transposed(t),
        ld((t ? rows : cols) + 3),
        x(normal_values<T>(ld * (t ? cols : rows), seed)) {}
  double at(int64_t row, int64_t col) const {
    return static_cast<double>(
        x[static_cast<size_t>(transposed ? col * ld + row : row * ld + col)]);
  }
};

template <class T>
std::vector<T> all_panels(const Stored<T>& b, int64_t depth, int64_t n) {
  std::vector<T> panels(static_cast<size_t>(k::panels_size<T>(depth, n)), T(NAN));
  for (int64_t p = 0; p < k::panels<T>(n); ++p) {
    k::pack_panel(b.transposed, b.x.data(), b.ld, depth, n, p, panels.data());
  }
  return panels;
}

// A product of rows that lie apart, into the columns of some panels: these alone are written.
template <class T>
void check_product(int64_t m, int64_t n, int64_t depth, bool ta, bool tb) {
  SCOPED_TRACE(::testing::Message()
               << m << " x " << n << " x " << depth << ", A " << (ta ? "transposed" : "as it is")
               << ", B " << (tb ? "transposed" : "as it is"));
  const Stored<T> a(ta, m, depth, 2), b(tb, depth, n, 1);
  const auto panels = all_panels(b, depth, n);
  const bool add = m % 2 == 1;
  const int64_t ldc = n + 2, first = m % 3 == 2 && n > k::kPanel<T> ? 1 : 0;
  const auto before = normal_values<T>(m * ldc, 3);
  auto c = before;
  k::panel_product(k::PanelProduct<T>{m, n, depth, ta, a.x.data(), a.ld, panels.data(), first,
                                      k::panels<T>(n), add, c.data(), ldc});
  for (int64_t i = 0; i < m * ldc; ++i) {
    const int64_t row = i / ldc, column = i % ldc;
    const bool written = column < n && column >= first * k::kPanel<T>;
    double want = add || !written ? static_cast<double>(before[static_cast<size_t>(i)]) : 0;
    double scale = std::fabs(want);
    for (int64_t p = 0; p < depth && written; ++p) {
      const double term = a.at(row, p) * b.at(p, column);
      want += term;
      scale += std::fabs(term);
    }
    ASSERT_NEAR(static_cast<double>(c[static_cast<size_t>(i)]), want,
                fovea::testing::tolerance<T>() * scale)
        << "at " << i;
  }
}

template <class T>
class KernelsPanels : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsPanels, Floats);

// Every count of rows up to two blocks, columns around every panel.
TYPED_TEST(KernelsPanels, FewRows) {
  on_every_target([] {
    for (const int64_t n : {1, 7, 15, 16, 17, 31, 32, 33, 64, 71}) {
      for (const int64_t depth : {0, 1, 5, 40}) {
        for (int64_t m = 0; m <= 17; ++m) {
          for (const int transposed : {0, 1, 2, 3}) {
            check_product<TypeParam>(m, n, depth, transposed / 2 == 1, transposed % 2 == 1);
          }
        }
      }
    }
  });
}

// Around a panel's rows, and around the rows of a transposed A that are turned at once.
TYPED_TEST(KernelsPanels, ManyRows) {
  on_every_target([] {
    for (const int64_t depth : {k::kPanelRows - 1, k::kPanelRows, 2 * k::kPanelRows + 1}) {
      for (const int64_t m : {47, 48, 49, 63, 64, 65, 101, 131}) {
        for (const int transposed : {0, 1, 2, 3}) {
          check_product<TypeParam>(m, 35, depth, transposed / 2 == 1, transposed % 2 == 1);
        }
      }
    }
  });
}

// However a product is cut, its elements keep their bits.
TYPED_TEST(KernelsPanels, CutsChangeNoBits) {
  using T = TypeParam;
  on_every_target([] {
    const int64_t m = 77, n = 71, depth = 300;
    for (const int kind : {0, 1, 2, 3}) {
      const bool ta = kind / 2 == 1;
      const Stored<T> a(ta, m, depth, 2), b(false, depth, n, 1);
      const auto panels = all_panels(b, depth, n);
      k::PanelProduct<T> p{.m = m,
                           .n = n,
                           .k = depth,
                           .transposed = ta,
                           .a = a.x.data(),
                           .lda = a.ld,
                           .panels = panels.data(),
                           .first = 0,
                           .last = k::panels<T>(n),
                           .add = kind % 2 == 1,
                           .c = nullptr,
                           .ldc = n};
      const auto before = normal_values<T>(m * n, 3);
      auto whole = before;
      p.c = whole.data();
      k::panel_product(p);
      for (const int64_t rows : {1, 5, 16, 40}) {
        auto cut = before;
        for (int64_t r = 0; r < m; r += rows) {
          for (int64_t first = 0; first < k::panels<T>(n); ++first) {
            auto part = p;
            part.m = std::min(rows, m - r);
            part.a = p.a + (ta ? r : r * a.ld);
            part.first = first;
            part.last = first + 1;
            part.c = cut.data() + r * n;
            k::panel_product(part);
          }
        }
        EXPECT_EQ(whole, cut) << rows << " rows at once";
      }
    }
  });
}

}  // namespace
