// Products large enough that one operand is laid out in panels.
#include "fovea/ops/panelled.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/core/parallel.h"
#include "fovea/ops/ops.h"

namespace {

using namespace fovea;

// a b by another way: in double, column by column.
Tensor by_columns(const Tensor& a, const Tensor& b) {
  const Tensor x = to(a, f64), y = transpose(to(b, f64), 0, 1);
  Tensors columns;
  for (int64_t j = 0; j < y.size(0); ++j) columns.push_back(sum(x * select(y, 0, j), 1));
  return stack(columns, 1);
}

double worst(const Tensor& got, const Tensor& want) {
  return max(abs(to(got, f64) - want)).item<double>();
}

Tensor stored(bool transposed, int64_t rows, int64_t cols, DType t, Generator& g) {
  return transposed ? transpose(randn({cols, rows}, t, &g), 0, 1) : randn({rows, cols}, t, &g);
}

TEST(Panelled, ProductsOfAnyLayout) {
  Generator g(1);
  for (const DType t : {f32, f64}) {
    const double tolerance = t == f32 ? 2e-4 : 1e-12;
    for (const Shape& s : {Shape{300, 64, 130}, Shape{1000, 33 * 4, 40}, Shape{130, 160, 700}}) {
      for (const int layout : {0, 1, 2, 3}) {
        const Tensor a = stored(layout / 2 == 1, s[0], s[2], t, g);
        const Tensor b = stored(layout % 2 == 1, s[2], s[1], t, g);
        const Tensor want = by_columns(a, b);
        EXPECT_LT(worst(matmul(a, b), want), tolerance) << s.str() << " layout " << layout;
        const Tensor bias = randn({s[1]}, t, &g);
        EXPECT_LT(worst(linear(a, transpose(b, 0, 1), bias), want + to(bias, f64)), tolerance)
            << s.str() << " layout " << layout;
      }
    }
  }
}

// Among however many rows b is laid out for, and on any number of threads.
TEST(Panelled, BitsOfARowDependOnItAlone) {
  const int before = threads();
  Generator g(2);
  for (const int layout : {0, 1, 2, 3}) {
    const Tensor a = stored(layout / 2 == 1, 500, 300, f32, g);
    const Tensor b = stored(layout % 2 == 1, 300, 96, f32, g);
    const Tensor first = matmul(a, b);
    for (const int n : {1, 2, 8}) {
      set_threads(n);
      EXPECT_TRUE(equal(matmul(a, b), first)) << n << " threads, layout " << layout;
      EXPECT_TRUE(equal(matmul(narrow(a, 0, 100, 201), b), narrow(first, 0, 100, 201)))
          << n << " threads, layout " << layout;
    }
    set_threads(before);
  }
}

TEST(Panelled, NoRowsNoColumnsNoDepth) {
  const std::vector<float> a(64, 1), b(64, 1);
  for (const int64_t m : {0, 1, 9}) {
    for (const int64_t n : {0, 1, 7}) {
      for (const int64_t k : {0, 1, 7}) {
        std::vector<float> c(64, 5);
        detail::Panelled<float>(false, b.data(), n, k, n)
            .rows(m, false, a.data(), k, false, c.data(), n);
        for (int64_t i = 0; i < 64; ++i) {
          EXPECT_EQ(c[static_cast<size_t>(i)], i < m * n ? static_cast<float>(k) : 5.0F);
        }
      }
    }
  }
}

TEST(Panelled, NothingIsLostInInfinities) {
  Tensor a = zeros({300, 130}), b = ones({130, 64});
  select(select(b, 0, 7), 0, 5).fill_(std::numeric_limits<double>::infinity());
  const Tensor y = matmul(a, b);
  EXPECT_EQ(sum(isnan(y)).item<int64_t>(), 300);
  EXPECT_TRUE(std::isnan(select(select(y, 0, 299), 0, 5).item<float>()));
}

}  // namespace
