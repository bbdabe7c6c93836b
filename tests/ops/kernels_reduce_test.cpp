#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "fovea/ops/kernels/reduce.h"
#include "ops/kernels_targets.h"

namespace {

namespace k = fovea::kernels;
using fovea::testing::normal_values;
using fovea::testing::odd_sizes;
using fovea::testing::on_every_target;
using fovea::testing::tolerance;

template <class T>
class KernelsReduce : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsReduce, Floats);

// !(error <= bound): NaN fails.
#define EXPECT_WITHIN(value, right, bound)             \
  EXPECT_TRUE(std::fabs((value) - (right)) <= (bound)) \
      << #value << " = " << (value) << ", want " << (right) << ", n = " << n

TYPED_TEST(KernelsReduce, SumsEqualTheNaiveLoop) {
  using T = TypeParam;
  on_every_target([] {
    for (int64_t n : odd_sizes()) {
      const auto x = normal_values<T>(n, 1), y = normal_values<T>(n, 2);
      long double sum = 0, abs = 0, squares = 0, dot = 0, dot_size = 0, away = 0;
      for (int64_t i = 0; i < n; ++i) {
        const long double a = x[i], b = y[i];
        sum += a, abs += std::fabs(a), squares += a * a, dot += a * b;
        dot_size += std::fabs(a * b), away += (a - 0.25L) * (a - 0.25L);
      }
      EXPECT_WITHIN(k::sum(x.data(), n), sum, tolerance<T>() * abs);
      EXPECT_WITHIN(k::sum_abs(x.data(), n), abs, tolerance<T>() * abs);
      EXPECT_WITHIN(k::sum_squares(x.data(), n), squares, 1e-13 * squares);
      EXPECT_WITHIN(k::dot(x.data(), y.data(), n), dot, tolerance<T>() * dot_size);
      EXPECT_WITHIN(k::sum_squared_deviation(x.data(), 0.25, n), away, 1e-13 * away);
    }
  });
}

TYPED_TEST(KernelsReduce, LongSumsKeepTheirDigits) {
  using T = TypeParam;
  on_every_target([] {
    const int64_t n = 10'000'000;
    for (double value : {1.0 / 255, 0.1, 1.0 / 3, 0.7}) {
      const std::vector<T> x(n, static_cast<T>(value));
      const long double right = static_cast<long double>(x[0]) * n;
      EXPECT_WITHIN(k::sum(x.data(), n), right, tolerance<T>() * right);
      EXPECT_WITHIN(k::dot(x.data(), x.data(), n), right * x[0], tolerance<T>() * right * x[0]);
    }
  });
}

TEST(KernelsReduceFloat, RunningSumsAndProductsKeepTheirDigits) {
  const int64_t n = 1'000'000;
  const std::vector<float> x(n, 0.1F), z(n, 1.00001F);
  std::vector<float> y(n);
  for (bool reverse : {false, true}) {
    k::cumsum(x.data(), y.data(), n, reverse);
    EXPECT_NEAR(y[reverse ? 0 : n - 1] / (double{x[0]} * n), 1, 1e-6);
  }
  k::cumprod(z.data(), y.data(), n);
  EXPECT_NEAR(y[n - 1] / std::pow(double{z[0]}, n), 1, 1e-6);
}

TYPED_TEST(KernelsReduce, SumFollowsIeee) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  on_every_target([inf] {
    for (int64_t n : odd_sizes(2)) {
      std::vector<T> x(n, T(1));
      x[n / 2] = inf;
      EXPECT_EQ(k::sum(x.data(), n), inf);
      x[0] = -inf;
      EXPECT_TRUE(std::isnan(k::sum(x.data(), n)));
    }
  });
}

TEST(KernelsReduceFloat, SumOfSquaresDoesNotOverflow) {
  const std::vector<float> x{1e30f, 1e30f};
  EXPECT_NEAR(std::sqrt(k::sum_squares(x.data(), 2)) / 1.41421356e30, 1, 1e-6);
}

TYPED_TEST(KernelsReduce, ProdEqualsTheNaiveLoop) {
  using T = TypeParam;
  on_every_target([] {
    for (int64_t n : odd_sizes()) {
      auto x = normal_values<T>(n, 3, T(0.1));
      long double right = 1;
      for (T& v : x) right *= static_cast<long double>(v += T(1));
      EXPECT_WITHIN(k::prod(x.data(), n), right, 1e-12L * std::fabs(right));
    }
  });
}

template <class T>
void check_extremes(const std::vector<T>& x) {
  const int64_t n = static_cast<int64_t>(x.size());
  const auto high = std::max_element(x.begin(), x.end());  // the first one
  const auto low = std::min_element(x.begin(), x.end());
  EXPECT_EQ(k::max(x.data(), n), *high) << n;
  EXPECT_EQ(k::min(x.data(), n), *low) << n;
  EXPECT_EQ(k::argmax(x.data(), n), high - x.begin()) << n;
  EXPECT_EQ(k::argmin(x.data(), n), low - x.begin()) << n;
}

TYPED_TEST(KernelsReduce, ExtremesAndTheirFirstPlace) {
  using T = TypeParam;
  on_every_target([] {
    for (int64_t n : odd_sizes(1)) {
      check_extremes(normal_values<T>(n, 4));
      check_extremes(std::vector<T>(n, T(-3)));
      std::vector<T> ties(n);
      for (int64_t i = 0; i < n; ++i) ties[i] = static_cast<T>(i * 7 % 5);
      check_extremes(ties);
    }
    EXPECT_EQ(k::max(static_cast<T*>(nullptr), 0), -std::numeric_limits<T>::infinity());
    EXPECT_EQ(k::min(static_cast<T*>(nullptr), 0), std::numeric_limits<T>::infinity());
  });
}

TYPED_TEST(KernelsReduce, NanWinsAtAnyPlace) {
  using T = TypeParam;
  on_every_target([] {
    for (int64_t n : {1, 5, 16, 33, 64, 65, 70}) {
      for (int64_t at = 0; at < n; ++at) {
        auto x = normal_values<T>(n, 5);
        x[at] = std::numeric_limits<T>::quiet_NaN();
        x[n - 1] = x[at];
        EXPECT_TRUE(std::isnan(k::max(x.data(), n)));
        EXPECT_TRUE(std::isnan(k::min(x.data(), n)));
        EXPECT_EQ(k::argmax(x.data(), n), at);
        EXPECT_EQ(k::argmin(x.data(), n), at);
      }
    }
  });
}

TEST(KernelsReduceInt, SumsExtremesAndBools) {
  on_every_target([] {
    for (int64_t n : odd_sizes(1)) {
      std::vector<int64_t> x(n);
      std::vector<uint8_t> b(n);
      for (int64_t i = 0; i < n; ++i) {
        x[i] = (i * 7919 % 1013 - 500) * (int64_t{1} << 40);
        b[i] = i % 3 == 0;
      }
      EXPECT_EQ(k::sum(x.data(), n), std::accumulate(x.begin(), x.end(), int64_t{0}));
      EXPECT_EQ(k::sum(b.data(), n), (n + 2) / 3);
      check_extremes(x);
    }
  });
  const std::vector<int64_t> y{3, -4, 5};
  EXPECT_EQ(k::prod(y.data(), 3), -60);
  const std::vector<uint8_t> b{0, 0, 1};
  EXPECT_TRUE(k::any(b.data(), 3));
  EXPECT_FALSE(k::any(b.data(), 2));
  EXPECT_FALSE(k::all(b.data(), 3));
  EXPECT_TRUE(k::all(b.data() + 2, 1));
  EXPECT_FALSE(k::any(nullptr, 0));
  EXPECT_TRUE(k::all(nullptr, 0));
}

TYPED_TEST(KernelsReduce, ColumnSums) {
  using T = TypeParam;
  on_every_target([] {
    for (int64_t rows : {0, 1, 2, 3, 7, 8, 9, 15, 64, 100}) {
      for (int64_t n : {1, 2, 3, 5, 16, 17, 33, 70, 2051}) {
        const int64_t stride = n + 3;
        const auto x = normal_values<T>(rows * stride, 6);
        std::vector<T> same(n, T(2));
        std::vector<double> wide(n, 2.0);
        k::add_rows(x.data(), rows, stride, n, same.data());
        k::add_rows(x.data(), rows, stride, n, wide.data());
        for (int64_t c = 0; c < n; ++c) {
          double right = 2, size = 2;
          for (int64_t r = 0; r < rows; ++r) {
            right += static_cast<double>(x[r * stride + c]);
            size += std::fabs(static_cast<double>(x[r * stride + c]));
          }
          EXPECT_WITHIN(same[c], right, tolerance<T>() * size);
          EXPECT_WITHIN(wide[c], right, tolerance<T>() * size);
        }
      }
    }
  });
}

TYPED_TEST(KernelsReduce, ColumnExtremes) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  on_every_target([nan] {
    for (int64_t n : {1, 3, 16, 17, 33, 70}) {
      const int64_t rows = 9, stride = n + 2;
      auto x = normal_values<T>(rows * stride, 7);
      for (int64_t r = 0; r < rows; ++r) x[r * stride] = static_cast<T>(r / 3);  // ties
      if (n > 2) x[4 * stride + 2] = x[6 * stride + 2] = nan;
      std::vector<T> high(n, -std::numeric_limits<T>::infinity()), best(n), least(n);
      std::vector<T> low(n, std::numeric_limits<T>::infinity());
      std::vector<int64_t> where(n), least_where(n);
      for (int64_t first : {0, 5}) {  // two blocks
        const T* block = x.data() + first * stride;
        const int64_t count = first == 0 ? 5 : 4;
        k::max_rows(block, count, stride, n, high.data());
        k::min_rows(block, count, stride, n, low.data());
        k::argmax_rows(block, count, stride, n, first, best.data(), where.data());
        k::argmin_rows(block, count, stride, n, first, least.data(), least_where.data());
      }
      for (int64_t c = 0; c < n; ++c) {
        std::vector<T> column(rows);
        for (int64_t r = 0; r < rows; ++r) column[r] = x[r * stride + c];
        EXPECT_EQ(where[c], k::argmax(column.data(), rows)) << c;
        EXPECT_EQ(least_where[c], k::argmin(column.data(), rows)) << c;
        if (n > 2 && c == 2) {
          EXPECT_TRUE(std::isnan(high[c]) && std::isnan(low[c]));
          EXPECT_EQ(where[c], 4);
        } else {
          EXPECT_EQ(high[c], k::max(column.data(), rows));
          EXPECT_EQ(low[c], k::min(column.data(), rows));
          EXPECT_EQ(best[c], high[c]);
        }
      }
    }
  });
}

TYPED_TEST(KernelsReduce, Scans) {
  using T = TypeParam;
  const std::vector<T> x{1, -2, 3, 0.5};
  std::vector<T> y(4);
  k::cumsum(x.data(), y.data(), 4);
  EXPECT_EQ(y, (std::vector<T>{1, -1, 2, 2.5}));
  k::cumsum(x.data(), y.data(), 4, true);
  EXPECT_EQ(y, (std::vector<T>{2.5, 1.5, 3.5, 0.5}));
  k::cumprod(x.data(), y.data(), 4);
  EXPECT_EQ(y, (std::vector<T>{1, -2, -6, -3}));
}

TYPED_TEST(KernelsReduce, RunningLogSumExp) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  const std::vector<T> x{-inf, -inf, 1000, 1001, 0, -inf, 1001};
  std::vector<T> y(x.size());
  k::logcumsumexp(x.data(), y.data(), 7);
  const std::vector<double> right{
      -inf, -inf, 1000, 1001.3132616875, 1001.3132616875, 1001.3132616875, 1001.8619948040};
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(static_cast<double>(y[i]) == right[i] ||
                std::fabs(static_cast<double>(y[i]) - right[i]) <= 1e-4)
        << i << " " << y[i];
  }
  const std::vector<T> wild{1, inf, 2, -inf, std::numeric_limits<T>::quiet_NaN(), 1};
  k::logcumsumexp(wild.data(), y.data(), 6);
  EXPECT_EQ(y[0], T(1));
  EXPECT_EQ(y[1], inf);
  EXPECT_EQ(y[2], inf);
  EXPECT_EQ(y[3], inf);
  EXPECT_TRUE(std::isnan(y[4]) && std::isnan(y[5]));
}

}  // namespace
