#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "fovea/ops/kernels/attention.h"
#include "ops/kernels_targets.h"

namespace {

namespace k = fovea::kernels;
using fovea::testing::normal_values;
using fovea::testing::odd_sizes;
using fovea::testing::on_every_target;

template <class T>
class KernelsAttention : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsAttention, Floats);

// What lies between the rows does not count.
TYPED_TEST(KernelsAttention, AllFinite) {
  using T = TypeParam;
  constexpr T kInf = std::numeric_limits<T>::infinity();
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  on_every_target([] {
    EXPECT_TRUE(k::all_finite(static_cast<const T*>(nullptr), 0, 3, 3));
    for (const int64_t n : odd_sizes(1)) {
      const int64_t rows = 3, ld = n + 1;
      auto x = normal_values<T>(rows * ld, 3);
      for (int64_t r = 0; r < rows; ++r) x[static_cast<size_t>(r * ld + n)] = kNan;
      ASSERT_TRUE(k::all_finite(x.data(), rows, n, ld)) << n;
      for (const T bad : {kInf, -kInf, kNan}) {
        for (const int64_t at : {int64_t{0}, n / 2, ld + n - 1, 2 * ld + n - 1}) {
          const T before = x[static_cast<size_t>(at)];
          x[static_cast<size_t>(at)] = bad;
          ASSERT_FALSE(k::all_finite(x.data(), rows, n, ld)) << at << " of rows of " << n;
          x[static_cast<size_t>(at)] = before;
        }
      }
    }
  });
}

}  // namespace
