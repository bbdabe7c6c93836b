// The elementwise kernels of one argument against long double, on every instruction set that was
// compiled and that this processor has.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "fovea/ops/kernels/unary.h"
#include "tests/ops/kernels_targets.h"
#include "tests/ops/reference.h"

namespace fovea {
namespace {

using testing::phi;
using testing::sigmoid;

template <class T>
using Kernel = void (*)(const T*, T*, std::int64_t);
using Reference = long double (*)(long double);

struct Row {
  const char* name;
  Kernel<float> f32;
  Kernel<double> f64;
  Reference reference;
  // Largest error in ulp; an absolute error in epsilons, and one in smallest normal numbers, that
  // is accepted as well: denormals may count as 0, also before they are multiplied by x.
  double ulp32, ulp64, absolute = 0, underflow = 1;
};

long double softplus(long double x) {
  return std::isnan(x) ? x : std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x)));
}
// x f(x), with the limit -0 where x = -inf.
long double gate(long double x, long double f) { return std::isinf(x) && x < 0 ? -0.0L : x * f; }

const Row kRows[] = {
#define ROW(name, expression, ...)                                           \
  Row {                                                                      \
#name, static_cast < Kernel < float>>(&kernels::name),                   \
        static_cast < Kernel < double>>(&kernels::name),                     \
        [](long double x) -> long double { return expression; }, __VA_ARGS__ \
  }
    ROW(neg, -x, 0, 0),
    ROW(abs, std::fabs(x), 0, 0),
    ROW(sign, x == 0 || std::isnan(x) ? x : std::copysign(1.0L, x), 0, 0),
    ROW(square, x* x, 0.51, 0.51),
    ROW(reciprocal, 1 / x, 0.51, 0.51),
    ROW(sqrt, std::sqrt(x), 0.51, 0.51),
    ROW(rsqrt, 1 / std::sqrt(x), 1.5, 1.5),
    ROW(floor, std::floor(x), 0, 0),
    ROW(ceil, std::ceil(x), 0, 0),
    ROW(round, std::nearbyint(x), 0, 0),
    ROW(trunc, std::trunc(x), 0, 0),
    ROW(relu, x < 0 ? 0 : x, 0, 0),
    ROW(exp, std::exp(x), 2, 2),
    ROW(exp2, std::exp2(x), 2, 2),
    ROW(expm1, std::expm1(x), 3, 3),
    ROW(log, std::log(x), 2, 2),
    ROW(log2, std::log2(x), 2, 2),
    ROW(log10, std::log10(x), 3, 3),
    ROW(log1p, std::log1p(x), 2, 2),
    ROW(sin, std::sin(x), 4, 4, 0.5),
    ROW(cos, std::cos(x), 4, 4, 0.5),
    ROW(tanh, std::tanh(x), 3, 3),
    ROW(erf, std::erf(x), 3, 3),
    ROW(sigmoid, sigmoid(x), 3, 3),
    ROW(log_sigmoid, -softplus(-x), 3, 3),
    ROW(softplus, softplus(x), 3, 3),
    ROW(silu, gate(x, sigmoid(x)), 4, 4, 0, 1000),
    ROW(mish, gate(x, std::tanh(softplus(x))), 5, 5, 0, 1000),
    ROW(elu, x > 0 ? x : std::expm1(x), 3, 3),
    ROW(gelu, gate(x, phi(x)), 8, 8, 0, 100),
    ROW(gelu_tanh,
        gate(x, sigmoid(1.5957691216057307117597842397375L * (x + 0.044715L * x * x * x))), 4, 4, 1,
        100),
#undef ROW
};

template <class T>
Kernel<T> kernel_of(const Row& row) {
  if constexpr (sizeof(T) == 4) {
    return row.f32;
  } else {
    return row.f64;
  }
}

template <class T>
std::vector<T> inputs() {
  using L = std::numeric_limits<T>;
  std::vector<T> x = {L::quiet_NaN(),  -L::quiet_NaN(), L::infinity(), T(0),
                      L::denorm_min(), L::min() / 2,    L::min(),      L::max(),
                      L::epsilon(),    L::epsilon() / 4};
  // Neighbourhoods of the points where a kernel switches formula or a result leaves the range.
  const double thresholds[] = {0.25,
                               0.34657359,
                               0.5,
                               0.70710678,
                               1,
                               1.41421356,
                               1.5,
                               2,
                               2.5,
                               3,
                               4,
                               6,
                               8,
                               10,
                               11,
                               13.5,
                               15,
                               16,
                               20,
                               26.6,
                               27.3,
                               28,
                               37.5,
                               39,
                               40,
                               44,
                               64,
                               87.3365,
                               88,
                               88.7228,
                               89,
                               103.97,
                               104,
                               126,
                               127,
                               128,
                               149,
                               151,
                               708.396,
                               709.782,
                               710,
                               745.13,
                               746,
                               1000,
                               1022,
                               1023,
                               1024,
                               1074,
                               1076,
                               4194304,
                               8388608,
                               16777216,
                               10000,
                               1e5,
                               1e6,
                               1e7,
                               4503599627370496.0,
                               9007199254740992.0,
                               1.8446744e19,
                               1e30};
  for (const double t : thresholds) {
    T up = static_cast<T>(t), down = up;
    for (int i = 0; i < 4; ++i) {
      x.push_back(up);
      x.push_back(down);
      up = std::nextafter(up, L::infinity());
      down = std::nextafter(down, T(0));
    }
  }
  for (int e = L::min_exponent; e < L::max_exponent; ++e) {
    for (const double m : {0.5, 0.6, 0.70710678, 0.75, 0.9, 0.99999994}) {
      x.push_back(std::ldexp(static_cast<T>(m), e));
    }
  }
  std::mt19937_64 engine(20240601);
  auto uniform = [&](double low, double high, int count) {
    std::uniform_real_distribution<double> u(low, high);
    for (int i = 0; i < count; ++i) x.push_back(static_cast<T>(u(engine)));
  };
  uniform(0, 1, 8000);
  uniform(0.6, 1.6, 6000);
  uniform(1, 12, 16000);
  uniform(10, 1100, 6000);
  for (std::size_t i = x.size(); i-- > 0;) x.push_back(-x[i]);
  return x;
}

// How far y is from the true value, in ulp of T; 0 where y is as good as T and the contract allow.
template <class T>
double error_in_ulp(T y, long double truth, double absolute, double underflow) {
  using L = std::numeric_limits<T>;
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isnan(truth)) return std::isnan(y) ? 0 : kWrong;
  if (std::isnan(y)) return kWrong;
  const T nearest = static_cast<T>(truth);
  if (y == nearest) return truth == 0 && std::signbit(y) != std::signbit(truth) ? kWrong : 0;
  const long double magnitude = std::fabs(truth);
  if (std::isinf(y) || std::isinf(nearest)) {  // at the edge of overflow either is right
    const long double edge = L::max() * (1 - 4 * static_cast<long double>(L::epsilon()));
    const bool both_large = magnitude > edge && std::fabs(static_cast<long double>(y)) > edge;
    return both_large && std::signbit(y) == std::signbit(truth) ? 0 : kWrong;
  }
  const long double difference = std::fabs(y - truth);
  if (difference <= underflow * L::min()) return 0;
  if (difference <= absolute * L::epsilon()) return 0;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  return static_cast<double>(std::ldexp(difference, L::digits - exponent));
}

// Treats denormals as 0, in and out, while it lives; does nothing on other processors.
class FlushWhen {
 public:
#if defined(__SSE2__)
  explicit FlushWhen(bool on) : old_(_mm_getcsr()) {
    if (on) _mm_setcsr(old_ | 0x8040);
  }
  ~FlushWhen() { _mm_setcsr(old_); }

 private:
  unsigned old_;
#else
  explicit FlushWhen(bool) {}
#endif
};

template <class T>
void sweep(bool flush) {
  std::vector<T> x = inputs<T>();
  if (flush) {
    const auto is_denormal = [](T v) { return std::fpclassify(v) == FP_SUBNORMAL; };
    x.erase(std::remove_if(x.begin(), x.end(), is_denormal), x.end());
  }
  std::vector<T> y(x.size());
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const double bound = sizeof(T) == 4 ? row.ulp32 : row.ulp64;
    std::vector<long double> truth(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) truth[i] = row.reference(x[i]);
    testing::on_every_target([&] {
      {
        const FlushWhen scope(flush);
        kernel_of<T>(row)(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
      }
      double worst = -1;
      std::size_t at = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = error_in_ulp(y[i], truth[i], row.absolute, row.underflow);
        if (!(error <= worst)) {
          worst = error;
          at = i;
        }
      }
      if (std::getenv("FOVEA_SHOW_ULP") != nullptr) {
        std::printf("%-12s f%d %-7s %6.3f ulp\n", row.name, static_cast<int>(8 * sizeof(T)),
                    hwy::TargetName(hwy::SupportedTargets()), worst);
      }
      EXPECT_TRUE(worst <= bound) << "f(" << x[at] << ") = " << y[at] << ", not "
                                  << static_cast<double>(truth[at]) << ": " << worst
                                  << " ulp, bound " << bound;
    });
  }
}

TEST(KernelsVmath, FloatWithinUlpOnEveryTarget) { sweep<float>(false); }
TEST(KernelsVmath, DoubleWithinUlpOnEveryTarget) { sweep<double>(false); }
TEST(KernelsVmath, FloatWithDenormalsFlushed) { sweep<float>(true); }
TEST(KernelsVmath, DoubleWithDenormalsFlushed) { sweep<double>(true); }

// Any length from any alignment, in place or not: the same bits at every position, nothing written
// past the end. The values sit in an exact allocation, so a sanitizer sees a read past it.
template <class T>
void tails() {
  std::vector<T> x = inputs<T>();
  std::shuffle(x.begin(), x.end(), std::mt19937(7));
  x.resize(75);
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    testing::on_every_target([&] {
      std::vector<T> alone(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) kernel_of<T>(row)(&x[i], &alone[i], 1);
      for (std::size_t n = 0; n <= 70; ++n) {
        const std::size_t offset = n % 5;
        const std::vector<T> in(x.begin() + offset, x.begin() + offset + n);
        const T guard = T(-123.5);
        std::vector<T> out(n + 1, guard), in_place = in;
        in_place.push_back(guard);
        kernel_of<T>(row)(in.data(), out.data(), static_cast<std::int64_t>(n));
        kernel_of<T>(row)(in_place.data(), in_place.data(), static_cast<std::int64_t>(n));
        EXPECT_EQ(out[n], guard) << n;
        EXPECT_EQ(in_place[n], guard) << n;
        for (std::size_t i = 0; i < n; ++i) {
          const T want = alone[offset + i];
          EXPECT_TRUE(out[i] == want || (std::isnan(out[i]) && std::isnan(want))) << n << " " << i;
          EXPECT_TRUE(in_place[i] == want || (std::isnan(in_place[i]) && std::isnan(want)));
        }
      }
    });
  }
}

TEST(KernelsVmath, FloatTailsAndInPlace) { tails<float>(); }
TEST(KernelsVmath, DoubleTailsAndInPlace) { tails<double>(); }

TEST(KernelsVmath, ExactValues) {
  testing::on_every_target([] {
    for (int k = -1000; k <= 1000; ++k) {
      const double power = std::ldexp(1.0, k), exponent = k;
      double y = 0;
      kernels::exp2(&exponent, &y, 1);
      EXPECT_EQ(y, power);
      kernels::log2(&power, &y, 1);
      EXPECT_EQ(y, exponent);
    }
    const std::vector<float> halves = {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f};
    std::vector<float> y(halves.size());
    kernels::round(halves.data(), y.data(), 6);
    EXPECT_EQ(y, (std::vector<float>{-2, -2, -0.f, 0, 2, 2}));
    EXPECT_TRUE(std::signbit(y[2]));
  });
}

TEST(KernelsVmath, Integers) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  const std::vector<std::int64_t> x = {kMin, -3, 0, 5};
  std::vector<std::int64_t> y(4);
  kernels::neg(x.data(), y.data(), 4);
  EXPECT_EQ(y, (std::vector<std::int64_t>{kMin, 3, 0, -5}));
  kernels::abs(x.data(), y.data(), 4);
  EXPECT_EQ(y, (std::vector<std::int64_t>{kMin, 3, 0, 5}));
  kernels::sign(x.data(), y.data(), 4);
  EXPECT_EQ(y, (std::vector<std::int64_t>{-1, -1, 0, 1}));
  kernels::square(x.data(), y.data(), 4);
  EXPECT_EQ(y, (std::vector<std::int64_t>{0, 9, 0, 25}));
}

}  // namespace
}  // namespace fovea
