// What the vector mathematics functions share: polynomials, NaN-preserving clamps, powers of two.
// Per-target header: included once for each instruction set (see vmath-inl.h).
#if defined(FOVEA_OPS_KERNELS_VMATH_BASE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_VMATH_BASE_INL_H_
#undef FOVEA_OPS_KERNELS_VMATH_BASE_INL_H_
#else
#define FOVEA_OPS_KERNELS_VMATH_BASE_INL_H_
#endif

#include <hwy/highway.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE::vmath {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
inline constexpr bool kIsFloat = sizeof(hn::TFromD<D>) == 4;

// 1.5 * 2^mantissa bits: adding it rounds a small number to the nearest integer, half to even, and
// leaves that integer in the low bits of the sum.
template <class T>
inline constexpr T kRounder = sizeof(T) == 4 ? T(12582912.0) : T(6755399441055744.0);

template <class D>
HWY_INLINE hn::Vec<D> Infinity(D d) {
  return hn::Set(d, std::numeric_limits<hn::TFromD<D>>::infinity());
}

// c0 + x (c1 + x (c2 + ...)), Horner's rule.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Horner(D d, V /*x*/, double c0) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(c0));
}
template <class D, class V = hn::Vec<D>, class... Rest>
HWY_INLINE V Horner(D d, V x, double c0, Rest... rest) {
  return hn::MulAdd(Horner(d, x, rest...), x, hn::Set(d, static_cast<hn::TFromD<D>>(c0)));
}

// max(x, c) and min(x, c) that keep a NaN in x. x86 returns the second operand when one is NaN;
// elsewhere Max may prefer the number.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V AtLeast(D d, V x, double c) {
  const V bound = hn::Set(d, static_cast<hn::TFromD<D>>(c));
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::Max(bound, x);
#else
  return hn::IfThenElse(hn::Lt(x, bound), bound, x);
#endif
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V AtMost(D d, V x, double c) {
  const V bound = hn::Set(d, static_cast<hn::TFromD<D>>(c));
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::Min(bound, x);
#else
  return hn::IfThenElse(hn::Gt(x, bound), bound, x);
#endif
}

// magnitude with the sign bit of sign; magnitude must be >= +0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V WithSign(D d, V magnitude, V sign) {
  return hn::Or(magnitude, hn::And(sign, hn::SignBit(d)));
}

// The nearest integer to x, |x| < 2^21 (float) or 2^50 (double).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Nearest(D d, V x) {
  const V rounder = hn::Set(d, kRounder<hn::TFromD<D>>);
  return hn::Sub(hn::Add(x, rounder), rounder);
}

// 2^k for an integer k inside the exponent range of normal numbers.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V PowerOfTwo(D d, V k) {
  using T = hn::TFromD<D>;
  constexpr int kMantissaBits = sizeof(T) == 4 ? 23 : 52;
  constexpr T kBias = sizeof(T) == 4 ? T(127) : T(1023);
  const hn::RebindToUnsigned<D> du;
  const V biased = hn::Add(k, hn::Set(d, kRounder<T> + kBias));
  return hn::BitCast(d, hn::ShiftLeft<kMantissaBits>(hn::BitCast(du, biased)));
}

// p 2^n for an integer n whose half is in the exponent range: overflows to inf, underflows to 0.
template <class D, class V>
HWY_INLINE V Scale(D d, V p, V n) {
  const V half = Nearest(d, hn::Mul(n, hn::Set(d, hn::TFromD<D>(0.5))));
  return hn::Mul(hn::Mul(p, PowerOfTwo(d, half)), PowerOfTwo(d, hn::Sub(n, half)));
}

#if HWY_TARGET == HWY_AVX3
// AVX-512 has the instruction. Highway's wrappers do not reach it.
template <class D>
HWY_INLINE hn::Vec512<float> Scale(D /*d*/, hn::Vec512<float> p, hn::Vec512<float> n) {
  return hn::Vec512<float>{_mm512_scalef_ps(p.raw, n.raw)};
}
template <class D>
HWY_INLINE hn::Vec512<double> Scale(D /*d*/, hn::Vec512<double> p, hn::Vec512<double> n) {
  return hn::Vec512<double>{_mm512_scalef_pd(p.raw, n.raw)};
}
#endif

}  // namespace fovea::kernels::HWY_NAMESPACE::vmath
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
