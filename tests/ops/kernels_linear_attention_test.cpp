#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fovea/ops/kernels/linear_attention.h"
#include "ops/kernels_targets.h"

namespace {

namespace k = fovea::kernels;
using fovea::testing::normal_values;
using fovea::testing::odd_sizes;
using fovea::testing::on_every_target;

template <class T>
class KernelsLinearAttention : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsLinearAttention, Floats);

template <class T>
constexpr T kInf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

TYPED_TEST(KernelsLinearAttention, AddToState) {
  using T = TypeParam;
  on_every_target([] {
    for (int64_t n : odd_sizes()) {
      const auto part = normal_values<T>(n, 1);
      std::vector<double> sum = normal_values<double>(n, 2), want = sum;
      std::vector<T> now(static_cast<size_t>(n));
      k::add_to_state(part.data(), sum.data(), now.data(), n);
      for (size_t i = 0; i < want.size(); ++i) {
        want[i] += double{part[i]};
        ASSERT_EQ(sum[i], want[i]) << i << " of " << n;
        ASSERT_EQ(now[i], static_cast<T>(want[i])) << i << " of " << n;
      }
    }
  });
}

TYPED_TEST(KernelsLinearAttention, QuotientGradient) {
  using T = TypeParam;
  const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-14;
  on_every_target([tolerance] {
    for (int64_t n : odd_sizes()) {
      const int64_t rows = 3, ldg = n + 2;
      auto gy = normal_values<T>(rows * ldg, 4);
      const auto y = normal_values<T>(rows * n, 5);
      const std::vector<T> f{T(0.5), T(0), T(-2)};
      std::fill(gy.begin() + ldg, gy.begin() + ldg + n, kNan<T>);  // of the row with f = 0
      std::vector<T> out(static_cast<size_t>(rows * (n + 1)), T(7));
      k::quotient_gradient(gy.data(), ldg, y.data(), f.data(), out.data(), rows, n);
      for (int64_t r = 0; r < rows; ++r) {
        double sum = 0, size = 0;
        for (int64_t i = 0; i < n; ++i) {
          const double g = r == 1 ? 0 : double{gy[r * ldg + i]} * double{f[r]};
          ASSERT_EQ(out[r * (n + 1) + i], static_cast<T>(g)) << i << " of " << n;
          sum -= g * double{y[r * n + i]};
          size += std::fabs(g * double{y[r * n + i]});
        }
        ASSERT_TRUE(std::fabs(double{out[r * (n + 1) + n]} - sum) <= tolerance * size) << n;
      }
    }
  });
}

TYPED_TEST(KernelsLinearAttention, EluPlusOne) {
  using T = TypeParam;
  const double tolerance = 4 * double{std::numeric_limits<T>::epsilon()};
  on_every_target([tolerance] {
    for (int64_t n : odd_sizes()) {
      const auto x = normal_values<T>(n, 6, T(8)), gy = normal_values<T>(n, 7);
      std::vector<T> y(x.size()), gx(x.size());
      k::elu_plus_one(x.data(), y.data(), n);
      k::elu_plus_one_backward(y.data(), gy.data(), gx.data(), n);
      for (size_t i = 0; i < x.size(); ++i) {
        const double v{x[i]}, want = v > 0 ? v + 1 : std::exp(v), slope = v > 0 ? 1 : want;
        ASSERT_TRUE(std::fabs(double{y[i]} - want) <= tolerance * want) << v;
        const double g = double{gy[i]} * slope;
        ASSERT_TRUE(std::fabs(double{gx[i]} - g) <= tolerance * std::fabs(g)) << v;
      }
    }
    const std::vector<T> x{0, -kInf<T>, kInf<T>, kNan<T>, T(-1e4), T(1e4)}, one(x.size(), T(1));
    std::vector<T> y(x.size()), gx(x.size());
    k::elu_plus_one(x.data(), y.data(), static_cast<int64_t>(x.size()));
    k::elu_plus_one_backward(y.data(), one.data(), gx.data(), static_cast<int64_t>(x.size()));
    EXPECT_EQ(std::vector<T>(y.begin(), y.begin() + 3), (std::vector<T>{1, 0, kInf<T>}));
    EXPECT_EQ(std::vector<T>(gx.begin(), gx.begin() + 3), (std::vector<T>{1, 0, 1}));
    EXPECT_TRUE(std::isnan(y[3]) && std::isnan(gx[3]));
    EXPECT_EQ(y[4], 0);
    EXPECT_EQ(y[5], 10001);
  });
}

}  // namespace
