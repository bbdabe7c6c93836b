// pow on arrays: vectors for float, the C library for double, products for the common exponents.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "fovea/ops/kernels/binary.h"
#include "fovea/ops/kernels/unary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/binary_pow.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/loops-inl.h"
#include "fovea/ops/kernels/vmath_pow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
// Their conversion to float turns inf into the largest float.
void pow_f32(const float* a, int64_t sa, const float* b, int64_t sb, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = std::pow(a[i * sa], b[i * sb]);
}
#else
// Float lanes to double and back, so half a float vector at a time. Strides 0 or 1.
void pow_f32(const float* a, int64_t sa, const float* b, int64_t sb, float* y, int64_t n) {
  if (n <= 0) return;
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto a0 = hn::Set(df, *a), b0 = hn::Set(df, *b);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto x = hn::PromoteTo(d, sa == 0 ? a0 : hn::LoadU(df, a + i));
    const auto e = hn::PromoteTo(d, sb == 0 ? b0 : hn::LoadU(df, b + i));
    hn::StoreU(hn::DemoteTo(df, vmath::PowOfFloats(d, x, e)), df, y + i);
  }
  if (i < n) {
    const size_t rest = static_cast<size_t>(n - i);
    const auto x = hn::PromoteTo(d, sa == 0 ? a0 : LoadN(df, a + i, rest));
    const auto e = hn::PromoteTo(d, sb == 0 ? b0 : LoadN(df, b + i, rest));
    StoreN(df, hn::DemoteTo(df, vmath::PowOfFloats(d, x, e)), y + i, rest);
  }
}
#endif

struct CubeOp {
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Mul(hn::Mul(x, x), x);
  }
};
void cube_f32(const float* x, float* y, int64_t n) { UnaryLoop(x, y, n, CubeOp()); }
void cube_f64(const double* x, double* y, int64_t n) { UnaryLoop(x, y, n, CubeOp()); }

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(pow_f32);
HWY_EXPORT(cube_f32);
HWY_EXPORT(cube_f64);

static void cube(const float* x, float* y, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(cube_f32)(x, y, n);
}
static void cube(const double* x, double* y, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(cube_f64)(x, y, n);
}

// True if the exponent was one of those that products do, within 1 ulp and with pow's own limits.
template <class T>
static bool pow_by_products(const T* x, T exponent, T* y, std::int64_t n) {
  if (exponent == T(2)) return square(x, y, n), true;
  if (exponent == T(3)) return cube(x, y, n), true;
  if (exponent == T(-1)) return reciprocal(x, y, n), true;
  if (exponent == T(1)) return std::memmove(y, x, sizeof(T) * static_cast<std::size_t>(n)), true;
  return false;
}

void pow(const float* a, std::int64_t sa, const float* b, std::int64_t sb, float* y,
         std::int64_t n) {
  if (n > 0 && sa == 1 && sb == 0 && pow_by_products(a, *b, y, n)) return;
  if ((sa == 0 || sa == 1) && (sb == 0 || sb == 1)) {
    HWY_DYNAMIC_DISPATCH(pow_f32)(a, sa, b, sb, y, n);
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      HWY_DYNAMIC_DISPATCH(pow_f32)(a + i * sa, 0, b + i * sb, 0, y + i, 1);
    }
  }
}

void pow(const double* a, std::int64_t sa, const double* b, std::int64_t sb, double* y,
         std::int64_t n) {
  if (n > 0 && sa == 1 && sb == 0) {
    const double exponent = *b;
    if (pow_by_products(a, exponent, y, n)) return;
    if (exponent == 0.5) {  // sqrt but for -0 and -inf
      for (std::int64_t i = 0; i < n; ++i) y[i] = a[i] > 0 ? std::sqrt(a[i]) : std::pow(a[i], 0.5);
      return;
    }
  }
  for (std::int64_t i = 0; i < n; ++i) y[i] = std::pow(a[i * sa], b[i * sb]);
}
}  // namespace fovea::kernels
#endif  // HWY_ONCE
