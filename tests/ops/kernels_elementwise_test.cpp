// Backward, two-argument, conversion and transpose kernels against plain loops, on every
// instruction set, for all lengths and kinds of stride.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "fovea/ops/kernels/binary.h"
#include "fovea/ops/kernels/convert.h"
#include "fovea/ops/kernels/unary_backward.h"
#include "tests/ops/kernels_targets.h"
#include "tests/ops/reference.h"

namespace fovea {
namespace {

using testing::normal_values;
using testing::odd_sizes;
using testing::on_every_target;
using testing::phi;
using testing::sigmoid;

template <class T>
constexpr T kInf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
constexpr std::int64_t kMinInt = std::numeric_limits<std::int64_t>::min();

// Equal, or both NaN.
template <class T>
bool same(T a, T b) {
  return a == b || (a != a && b != b);
}

// --- backward ----------------------------------------------------------------------------------

using Reference = long double (*)(long double);
struct BackwardRow {
  const char* name;
  void (*f32)(const float*, const float*, float*, std::int64_t);
  void (*f64)(const double*, const double*, double*, std::int64_t);
  Reference derivative;  // of what is saved
  double low;            // smallest saved value to test
};

long double silu_slope(long double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }
long double mish_slope(long double x) {
  const long double t = std::tanh(std::log1p(std::exp(x)));
  return t + x * (1 - t * t) * sigmoid(x);
}
long double gelu_tanh_slope(long double x) {
  const long double c = 1.59576912160573071176L, s = sigmoid(c * (x + 0.044715L * x * x * x));
  return s + x * s * (1 - s) * c * (1 + 3 * 0.044715L * x * x);
}

const BackwardRow kBackward[] = {
#define ROW(name, low, expression)                                   \
  BackwardRow {                                                      \
#name, &kernels::name##_backward, &kernels::name##_backward,     \
        [](long double s) -> long double { return expression; }, low \
  }
    ROW(sqrt, 0, s == 0 ? 0 : 1 / (2 * s)),
    ROW(rsqrt, 0.1, -0.5L * s * s * s),
    ROW(tanh, -1, 1 - s * s),
    ROW(sigmoid, 0, s*(1 - s)),
    ROW(relu, -8, s > 0),
    ROW(abs, -8, s == 0 ? 0 : std::copysign(1.0L, s)),
    ROW(erf, -8, 1.12837916709551257390L * std::exp(-s * s)),
    ROW(gelu, -8, phi(s) + s * 0.39894228040143267794L * std::exp(-0.5L * s * s)),
    ROW(gelu_tanh, -8, gelu_tanh_slope(s)),
    ROW(silu, -8, silu_slope(s)),
    ROW(softplus, -8, sigmoid(s)),
    ROW(log_sigmoid, -8, sigmoid(-s)),
    ROW(mish, -8, mish_slope(s)),
    ROW(elu, -8, s > 0 ? 1 : std::exp(s)),
#undef ROW
};

template <class T, class Kernel>
void check_backward(const BackwardRow& row, Kernel kernel) {
  const double high = row.low == 0 || row.low == -1 ? 1 : 8;
  for (const std::int64_t n : odd_sizes()) {
    const std::vector<T> gy = normal_values<T>(n, 3);
    std::vector<T> s(static_cast<std::size_t>(n)), gx(s.size() + 1, T(77));
    for (std::size_t i = 0; i < s.size(); ++i) {
      s[i] = static_cast<T>(row.low + (high - row.low) * static_cast<double>(i) / s.size());
    }
    kernel(s.data(), gy.data(), gx.data(), n);
    EXPECT_EQ(gx.back(), T(77));
    for (std::size_t i = 0; i < s.size(); ++i) {
      const long double want = row.derivative(s[i]) * gy[i];
      const long double error = std::fabs(gx[i] - want);
      EXPECT_TRUE(error <= 16 * std::numeric_limits<T>::epsilon() * (std::fabs(want) + 0.1L))
          << n << " s " << s[i] << " gx " << gx[i] << " want " << static_cast<double>(want);
    }
  }
}

TEST(KernelsBackward, AgreesWithTheDerivative) {
  for (const BackwardRow& row : kBackward) {
    SCOPED_TRACE(row.name);
    on_every_target([&] {
      check_backward<float>(row, row.f32);
      check_backward<double>(row, row.f64);
    });
  }
}

template <class T>
void check_backward_limits() {
  const auto at = [](auto kernel, T s, T gy) {
    T gx = T(77);
    kernel(&s, &gy, &gx, 1);
    return gx;
  };
  using Kernel = void (*)(const T*, const T*, T*, std::int64_t);
  for (const Kernel kernel : {Kernel(&kernels::gelu_backward), Kernel(&kernels::gelu_tanh_backward),
                              Kernel(&kernels::silu_backward), Kernel(&kernels::mish_backward),
                              Kernel(&kernels::softplus_backward)}) {
    EXPECT_EQ(at(kernel, kInf<T>, T(3)), T(3));
    EXPECT_EQ(at(kernel, -kInf<T>, T(3)), T(0));
    EXPECT_EQ(at(kernel, std::numeric_limits<T>::max(), T(3)), T(3));
    EXPECT_EQ(at(kernel, std::numeric_limits<T>::lowest(), T(3)), T(0));
    EXPECT_TRUE(std::isnan(at(kernel, kNaN<T>, T(3))));
  }
  const Kernel relu = &kernels::relu_backward, sqrt = &kernels::sqrt_backward;
  EXPECT_EQ(at(relu, T(0), kInf<T>), T(0));
  EXPECT_EQ(at(relu, T(0), kNaN<T>), T(0));
  EXPECT_EQ(at(relu, T(2), kInf<T>), kInf<T>);
  EXPECT_EQ(at(sqrt, T(0), T(1)), T(0));
}
TEST(KernelsBackward, Limits) {
  on_every_target([] {
    check_backward_limits<float>();
    check_backward_limits<double>();
  });
}

// --- two arguments -----------------------------------------------------------------------------

// Compares a kernel with a scalar function for all lengths and kinds of stride, and in place.
template <class Out, class T, class Kernel, class Scalar>
void check_binary(Kernel kernel, Scalar scalar, const std::vector<T>& values) {
  const std::int64_t count = static_cast<std::int64_t>(values.size());
  for (const std::int64_t n : odd_sizes()) {
    for (const auto& [sa, sb] : {std::pair{1, 1}, {1, 0}, {0, 1}, {0, 0}, {2, 1}, {-1, 3}}) {
      std::vector<T> a(static_cast<std::size_t>(3 * n + 1)), b(a.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = values[i % count];
        b[i] = values[(i / count * 5 + i * 3 + 1) % count];
      }
      const T* first_a = a.data() + (sa < 0 ? n : 0);
      std::vector<Out> y(static_cast<std::size_t>(n) + 1, Out(1));
      y.back() = Out(77);
      kernel(first_a, sa, b.data(), sb, y.data(), n);
      EXPECT_EQ(y.back(), Out(77));
      for (std::int64_t i = 0; i < n; ++i) {
        const Out want = scalar(first_a[i * sa], b[i * sb]);
        ASSERT_TRUE(same(y[i], want))
            << "n " << n << " strides " << sa << " " << sb << " i " << i << ": f("
            << +first_a[i * sa] << ", " << +b[i * sb] << ") = " << +y[i] << ", not " << +want;
      }
      if constexpr (std::is_same_v<T, Out>) {
        if (sa != 1) continue;
        kernel(a.data(), 1, b.data(), sb, a.data(), n);
        for (std::int64_t i = 0; i < n; ++i) ASSERT_TRUE(same(a[i], y[i])) << "in place " << i;
      }
    }
  }
}

template <class T>
std::vector<T> special_values() {
  return {T(0),  -T(0),   T(1),    T(-1),    T(0.5),  T(-0.5), T(2),     T(-2), T(3),
          T(-3), T(7.25), kInf<T>, -kInf<T>, kNaN<T>, T(1e10), T(-1e10), T(0.1)};
}

template <class T>
void check_floating() {
  using Kernel = void (*)(const T*, std::int64_t, const T*, std::int64_t, T*, std::int64_t);
  const std::vector<T> v = special_values<T>();
  check_binary<T>(
      Kernel(&kernels::add), [](T a, T b) { return a + b; }, v);
  check_binary<T>(
      Kernel(&kernels::sub), [](T a, T b) { return a - b; }, v);
  check_binary<T>(
      Kernel(&kernels::mul), [](T a, T b) { return a * b; }, v);
  check_binary<T>(
      Kernel(&kernels::div), [](T a, T b) { return a / b; }, v);
  check_binary<T>(
      Kernel(&kernels::minimum),
      [](T a, T b) { return a != a || b != b ? kNaN<T> : std::min(a, b); }, v);
  check_binary<T>(
      Kernel(&kernels::maximum),
      [](T a, T b) { return a != a || b != b ? kNaN<T> : std::max(a, b); }, v);
}
TEST(KernelsBinary, FloatingPoint) {
  on_every_target([] {
    check_floating<float>();
    check_floating<double>();
  });
}

TEST(KernelsBinary, PowAtSpecialValues) {
  const auto f32 = special_values<float>();
  const auto f64 = special_values<double>();
  on_every_target([&] {
    for (const float a : f32) {
      for (const float b : f32) {
        float y[3], as[3] = {a, a, a}, bs[3] = {b, b, b};
        const float want = std::pow(a, b);
        for (const int sb : {0, 1, 2}) {
          kernels::pow(as, 1, bs, sb, y, sb == 2 ? 1 : 3);
          EXPECT_TRUE(same(y[0], want) || std::fabs(y[0] - want) <= 1.2e-7f * std::fabs(want))
              << a << " " << b << " " << y[0] << " " << want;
          if (want == 0) {
            EXPECT_EQ(std::signbit(y[0]), std::signbit(want)) << a << " " << b;
          }
        }
      }
    }
    for (const double a : f64) {
      for (const double b : f64) {
        double y = 77;
        const double want = std::pow(a, b);
        kernels::pow(&a, 1, &b, 0, &y, 1);
        EXPECT_TRUE(same(y, want) || std::fabs(y - want) <= 2.3e-16 * std::fabs(want))
            << a << " " << b << " " << y << " " << want;
      }
    }
  });
}

TEST(KernelsBinary, PowOfFloatsIsRoundedOnce) {
  const std::int64_t n = 20000;
  std::vector<float> a = normal_values<float>(n, 1, 3), b = normal_values<float>(n, 2, 10), y(n);
  for (std::int64_t i = 0; i < n; i += 2) b[i] = std::round(b[i]);
  on_every_target([&] {
    kernels::pow(a.data(), 1, b.data(), 1, y.data(), n);
    for (std::int64_t i = 0; i < n; ++i) {
      const double want = std::pow(double(a[i]), double(b[i]));
      ASSERT_TRUE(same(y[i], static_cast<float>(want)) ||
                  std::fabs(y[i] - want) <= 0.51 * 1.1920929e-7 * std::fabs(want))
          << a[i] << " " << b[i] << " " << y[i] << " " << want;
    }
  });
}

TEST(KernelsBinary, FloorDivideAndRemainderFollowPython) {
  struct Case {
    double a, b, quotient, rest;
  };
  // Printed by Python's // and %.
  const Case cases[] = {{7, 2, 3, 1},
                        {-7, 2, -4, 1},
                        {7, -2, -4, -1},
                        {-7, -2, 3, -1},
                        {1, 0.1, 9, 0.1 - 5.551115123125783e-17},
                        {-1, 0.1, -10, 5.551115123125783e-17},
                        {0.5, kInf<double>, 0, 0.5},
                        {-0.5, kInf<double>, -1, kInf<double>}};
  for (const Case& c : cases) {
    double y = 0;
    kernels::floor_divide(&c.a, 1, &c.b, 1, &y, 1);
    EXPECT_EQ(y, c.quotient) << c.a << " " << c.b;
    kernels::remainder(&c.a, 1, &c.b, 1, &y, 1);
    EXPECT_NEAR(y == c.rest ? 0 : y - c.rest, 0, 1e-16) << c.a << " " << c.b;
  }
  const float one = 1, zero = 0;
  float y = 0;
  kernels::floor_divide(&one, 1, &zero, 1, &y, 1);
  EXPECT_EQ(y, kInf<float>);
  kernels::remainder(&one, 1, &zero, 1, &y, 1);
  EXPECT_TRUE(std::isnan(y));
}

TEST(KernelsBinary, Integers) {
  using I = std::int64_t;
  using U = std::uint64_t;
  using Kernel = void (*)(const I*, I, const I*, I, I*, I);
  const std::vector<I> v = {7, -7, 2, -2, 1, -1, 3, kMinInt, -(kMinInt + 1), 1000000007, -12345};
  on_every_target([&] {
    check_binary<I>(
        Kernel(&kernels::add), [](I a, I b) { return I(U(a) + U(b)); }, v);
    check_binary<I>(
        Kernel(&kernels::sub), [](I a, I b) { return I(U(a) - U(b)); }, v);
    check_binary<I>(
        Kernel(&kernels::mul), [](I a, I b) { return I(U(a) * U(b)); }, v);
    check_binary<I>(
        Kernel(&kernels::minimum), [](I a, I b) { return std::min(a, b); }, v);
    check_binary<I>(
        Kernel(&kernels::maximum), [](I a, I b) { return std::max(a, b); }, v);
    const auto floor_divide = [](I a, I b) {
      if (b == -1) return I(0 - U(a));
      return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
    };
    check_binary<I>(Kernel(&kernels::floor_divide), floor_divide, v);
    check_binary<I>(
        Kernel(&kernels::remainder),
        [&](I a, I b) { return I(U(a) - U(b) * U(floor_divide(a, b))); }, v);
  });
  const I zeros[] = {1, 0, 3, 0};
  EXPECT_TRUE(kernels::contains_zero(zeros, 1, 4));
  EXPECT_FALSE(kernels::contains_zero(zeros, 2, 2));
  EXPECT_FALSE(kernels::contains_zero(zeros, 0, 4));
  EXPECT_FALSE(kernels::contains_zero(zeros + 1, 1, 0));
}

template <class T>
void check_comparisons(const std::vector<T>& v) {
  using B = std::uint8_t;
  using Kernel = void (*)(const T*, std::int64_t, const T*, std::int64_t, B*, std::int64_t);
  check_binary<B>(
      Kernel(&kernels::eq), [](T a, T b) { return B(a == b); }, v);
  check_binary<B>(
      Kernel(&kernels::ne), [](T a, T b) { return B(a != b); }, v);
  check_binary<B>(
      Kernel(&kernels::lt), [](T a, T b) { return B(a < b); }, v);
  check_binary<B>(
      Kernel(&kernels::le), [](T a, T b) { return B(a <= b); }, v);
  check_binary<B>(
      Kernel(&kernels::gt), [](T a, T b) { return B(a > b); }, v);
  check_binary<B>(
      Kernel(&kernels::ge), [](T a, T b) { return B(a >= b); }, v);
}
TEST(KernelsBinary, ComparisonsAndLogic) {
  using B = std::uint8_t;
  const std::vector<B> bools = {0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 1};
  on_every_target([&] {
    check_comparisons<float>(special_values<float>());
    check_comparisons<double>(special_values<double>());
    check_comparisons<std::int64_t>({0, 1, -1, kMinInt, 5, 5, 7, -9});
    check_comparisons<B>(bools);
    check_binary<B>(
        &kernels::logical_and, [](B a, B b) { return B(a && b); }, bools);
    check_binary<B>(
        &kernels::logical_or, [](B a, B b) { return B(a || b); }, bools);
    check_binary<B>(
        &kernels::logical_xor, [](B a, B b) { return B(a != b); }, bools);
    std::vector<B> y(bools.size());
    kernels::logical_not(bools.data(), y.data(), static_cast<std::int64_t>(y.size()));
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], !bools[i]);
  });
}

template <class T>
void check_where() {
  for (const std::int64_t n : odd_sizes()) {
    for (const int sc : {0, 1, 2}) {
      for (const int sa : {0, 1, 3}) {
        for (const int sb : {0, 1, 2}) {
          const std::size_t size = static_cast<std::size_t>(3 * n + 1);
          std::vector<std::uint8_t> c(size);
          std::vector<T> a(size), b(size), y(static_cast<std::size_t>(n));
          for (std::size_t i = 0; i < size; ++i) {
            c[i] = (i * 7 % 5) < 2;
            a[i] = static_cast<T>(i % 100);
            b[i] = static_cast<T>(100 + i % 100);
          }
          kernels::where(c.data(), sc, a.data(), sa, b.data(), sb, y.data(), n);
          for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(y[i], c[i * sc] ? a[i * sa] : b[i * sb]);
        }
      }
    }
  }
}
TEST(KernelsBinary, Where) {
  on_every_target([] {
    check_where<float>();
    check_where<double>();
    check_where<std::int64_t>();
    check_where<std::uint8_t>();
  });
}

template <class T>
void check_updates() {
  for (const std::int64_t n : odd_sizes()) {
    const auto x = normal_values<T>(n, 1), y = normal_values<T>(n, 2);
    auto sum = y, scaled = x, axpy = y;
    kernels::add_inplace(sum.data(), x.data(), n);
    kernels::scale(T(1.5), x.data(), scaled.data(), n);
    kernels::axpy(T(1.5), x.data(), axpy.data(), n);
    for (std::int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(sum[i], y[i] + x[i]);
      EXPECT_EQ(scaled[i], T(1.5) * x[i]);
      EXPECT_NEAR(axpy[i], y[i] + T(1.5) * x[i], 8 * std::numeric_limits<T>::epsilon());
    }
  }
}
TEST(KernelsBinary, Updates) {
  on_every_target([] {
    check_updates<float>();
    check_updates<double>();
  });
}

// --- conversion, copies, transpose ---------------------------------------------------------------

template <class From, class To, class Scalar>
void check_convert(const std::vector<From>& values, Scalar scalar) {
  for (const std::int64_t n : odd_sizes()) {
    std::vector<From> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = values[i % values.size()];
    std::vector<To> y(x.size() + 1, To(77));
    kernels::convert(x.data(), y.data(), n);
    EXPECT_EQ(y.back(), To(77));
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(same(y[i], To(scalar(x[i])))) << +x[i];
  }
}
template <class From>
void check_convert_from(const std::vector<From>& v) {
  const auto to_int = [](From x) {
    const long double wide = x;
    return wide >= -0x1p63L && wide < 0x1p63L ? static_cast<std::int64_t>(x) : kMinInt;
  };
  check_convert<From, float>(v, [](From x) { return static_cast<float>(x); });
  check_convert<From, double>(v, [](From x) { return static_cast<double>(x); });
  check_convert<From, std::int64_t>(v, to_int);
  check_convert<From, std::uint8_t>(v, [](From x) { return x != 0; });
}
TEST(KernelsConvert, AllPairs) {
  on_every_target([] {
    auto f32 = special_values<float>();
    f32.insert(f32.end(), {2.9f, -2.9f, 9.2e18f, 9.3e18f, -9.3e18f});
    auto f64 = special_values<double>();
    f64.insert(f64.end(), {2.9, -2.9, 1e300, -1e300, 9007199254740993.0, 1e-320, 16777217.0});
    check_convert_from<float>(f32);
    check_convert_from<double>(f64);
    check_convert_from<std::int64_t>({0, 1, -1, kMinInt, 16777217, 9007199254740993});
    check_convert_from<std::uint8_t>({0, 1, 1, 0, 1});
  });
}

template <class T>
void check_copies() {
  const std::vector<T> src = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<T> dst(10, T(50));
  kernels::strided_copy(src.data() + 8, -2, dst.data(), 3, 4);
  EXPECT_EQ(dst, (std::vector<T>{8, 50, 50, 6, 50, 50, 4, 50, 50, 2}));
  kernels::strided_copy(src.data() + 7, 0, dst.data(), 1, 3);
  EXPECT_EQ(dst[2], T(7));
  kernels::strided_copy(src.data(), 1, dst.data(), 1, 10);
  EXPECT_EQ(dst, src);
  kernels::fill(dst.data() + 1, T(9), 8);
  EXPECT_EQ(dst, (std::vector<T>{0, 9, 9, 9, 9, 9, 9, 9, 9, 9}));

  for (const std::int64_t rows : {0, 1, 3, 8, 9, 31, 40, 77}) {
    for (const std::int64_t cols : {0, 1, 7, 8, 16, 33, 70}) {
      const std::int64_t stride = cols + 3, wide = rows + 2;
      std::vector<T> in(static_cast<std::size_t>(rows * stride));
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i * 31 % 251);
      std::vector<T> tight(static_cast<std::size_t>(rows * cols) + 1, T(3));
      std::vector<T> loose(static_cast<std::size_t>(wide * cols) + 1, T(3));
      kernels::transpose_copy(in.data(), stride, tight.data(), rows, cols);
      kernels::transpose_copy(in.data(), stride, loose.data(), wide, rows, cols);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
          ASSERT_EQ(tight[c * rows + r], in[r * stride + c]) << rows << " " << cols;
          ASSERT_EQ(loose[c * wide + r], in[r * stride + c]) << rows << " " << cols;
        }
      }
      EXPECT_EQ(tight.back(), T(3));
      for (std::int64_t c = 0; c < cols; ++c) ASSERT_EQ(loose[c * wide + rows], T(3));
    }
  }
}
TEST(KernelsConvert, CopiesAndTranspose) {
  on_every_target([] {
    check_copies<float>();
    check_copies<double>();
    check_copies<std::int64_t>();
    check_copies<std::uint8_t>();
  });
}

}  // namespace
}  // namespace fovea
