// Logarithms, correct for every input: log, log2, log10, log1p.
// Per-target header: included once for each instruction set (see vmath-inl.h).
//
// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); log x = k ln 2 + log(1 + f).
#if defined(FOVEA_OPS_KERNELS_VMATH_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_VMATH_LOG_INL_H_
#undef FOVEA_OPS_KERNELS_VMATH_LOG_INL_H_
#else
#define FOVEA_OPS_KERNELS_VMATH_LOG_INL_H_
#endif

#include <hwy/highway.h>

#include "fovea/ops/kernels/vmath_base-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE::vmath {

template <class V>
struct LogSplit {
  V k;         // an integer
  V mantissa;  // 1 + f
};

// For normal positive x.
template <class D, class V = hn::Vec<D>>
HWY_INLINE LogSplit<V> SplitForLog(D d, V x) {
  using T = hn::TFromD<D>;
  const hn::RebindToUnsigned<D> du;
  using TU = hn::TFromD<decltype(du)>;
  constexpr int kMantissaBits = kIsFloat<D> ? 23 : 52;
  constexpr TU kSqrtHalf = kIsFloat<D> ? TU(0x3F3504F3) : TU(0x3FE6A09E667F3BCD);
  constexpr TU kOne = kIsFloat<D> ? TU(0x3F800000) : TU(0x3FF0000000000000);
  constexpr TU kMantissaMask = (TU(1) << kMantissaBits) - 1;
  // 2^mantissa bits as a float; an integer or-ed into its low bits is added to it.
  constexpr TU kAdder = kIsFloat<D> ? TU(0x4B000000) : TU(0x4330000000000000);
  constexpr T kAdderAndBias = static_cast<T>(TU(1) << kMantissaBits) + T(kIsFloat<D> ? 127 : 1023);

  const auto bits = hn::Add(hn::BitCast(du, x), hn::Set(du, kOne - kSqrtHalf));
  const auto biased_k = hn::Or(hn::ShiftRight<kMantissaBits>(bits), hn::Set(du, kAdder));
  const auto mantissa = hn::Add(hn::And(bits, hn::Set(du, kMantissaMask)), hn::Set(du, kSqrtHalf));
  return {hn::Sub(hn::BitCast(d, biased_k), hn::Set(d, kAdderAndBias)), hn::BitCast(d, mantissa)};
}

// log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)).
// float: -f^2 / 2 + f^3 P(f), P minimax, error 6e-9. double: with s = f / (2 + f), log(1 + f) =
// log((1 + s) / (1 - s)) = f - (f^2 / 2 - s (f^2 / 2 + R(s^2))), R minimax, error 2.5e-18
// (the form of FreeBSD's e_log.c).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log1pMinusArg(D d, V f) {
  using T = hn::TFromD<D>;
  if constexpr (kIsFloat<D>) {
    const V p = Horner(d, f, 0.333333166, -0.250008146, 0.200023021, -0.166243911, 0.141807263,
                       -0.131300986, 0.128855895, -0.0786052167);
    return hn::Mul(hn::Mul(f, f), hn::MulAdd(f, p, hn::Set(d, T(-0.5))));
  } else {
    const V half_square = hn::Mul(hn::Mul(f, f), hn::Set(d, T(0.5)));
    const V s = hn::Div(f, hn::Add(f, hn::Set(d, T(2))));
    const V z = hn::Mul(s, s);
    const V r = hn::Mul(z, Horner(d, z, 0.6666666666666735, 0.39999999999409743,
                                  0.28571428743715429, 0.22222198417067916, 0.18183573350729818,
                                  0.15313798484943804, 0.14798667902688733));
    return hn::MulSub(s, hn::Add(half_square, r), half_square);
  }
}

// k ln 2 + f + low in an order that loses nothing: k times the first constant is exact.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V AddKLn2(D d, V k, V f, V low) {
  using T = hn::TFromD<D>;
  const V hi = hn::Set(d, T(kIsFloat<D> ? 0.693145751953125 : 0.69314718036912382));
  const V lo = hn::Set(d, T(kIsFloat<D> ? 1.42860682030941723e-6 : 1.90821492927058782e-10));
  return hn::MulAdd(k, hi, hn::Add(f, hn::MulAdd(k, lo, low)));
}

// The three bases differ in how k and log(1 + f) are put together.
struct NaturalBase {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Combine(D d, V k, V f, V low) {
    return AddKLn2(d, k, f, low);
  }
};
struct BaseTwo {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Combine(D d, V k, V f, V low) {
    const V inv_ln2 = hn::Set(d, hn::TFromD<D>(1.4426950408889634));
    return hn::MulAdd(hn::Add(f, low), inv_ln2, k);
  }
};
struct BaseTen {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Combine(D d, V k, V f, V low) {
    using T = hn::TFromD<D>;
    // log10(2) in two parts, the first short enough for exact products with k.
    const V hi = hn::Set(d, T(kIsFloat<D> ? 0.301025390625 : 0.30102999560767785));
    const V lo = hn::Set(d, T(kIsFloat<D> ? 4.60503898119521374e-6 : 5.6303348066750980e-11));
    const V inv_ln10 = hn::Set(d, T(0.43429448190325183));
    return hn::MulAdd(k, hi, hn::MulAdd(hn::Add(f, low), inv_ln10, hn::Mul(k, lo)));
  }
};

template <class Base, class D, class V = hn::Vec<D>>
HWY_INLINE V LogNormal(D d, V x) {
  const LogSplit<V> split = SplitForLog(d, x);
  const V f = hn::Sub(split.mantissa, hn::Set(d, hn::TFromD<D>(1)));
  return Base::Combine(d, split.k, f, Log1pMinusArg(d, f));
}

// y = the logarithm of positive x; puts right x = 0, x < 0, inf and NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V MendLog(D d, V x, V y) {
  const V zero = hn::Zero(d);
  y = hn::IfThenElse(hn::Lt(x, Infinity(d)), y, x);  // inf and NaN are their own logarithms
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(Infinity(d)), y);
  return hn::IfThenElse(hn::Lt(x, zero), hn::NaN(d), y);
}

template <class Base, class D, class V = hn::Vec<D>>
HWY_INLINE V LogAny(D d, V x) {
  using T = hn::TFromD<D>;
  const V smallest = hn::Set(d, std::numeric_limits<T>::min());
  if (HWY_LIKELY(hn::AllTrue(d, hn::And(hn::Ge(x, smallest), hn::Lt(x, Infinity(d)))))) {
    return LogNormal<Base>(d, x);
  }
  // Denormals are scaled up by 2^54.
  const auto tiny = hn::Lt(x, smallest);
  const V up = hn::Mul(x, hn::Set(d, T(18014398509481984.0)));
  const LogSplit<V> split = SplitForLog(d, hn::IfThenElse(tiny, up, x));
  const V k = hn::Sub(split.k, hn::IfThenElseZero(tiny, hn::Set(d, T(54))));
  const V f = hn::Sub(split.mantissa, hn::Set(d, T(1)));
  return MendLog(d, x, Base::Combine(d, k, f, Log1pMinusArg(d, f)));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log(D d, V x) {
  return LogAny<NaturalBase>(d, x);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log2(D d, V x) {
  return LogAny<BaseTwo>(d, x);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log10(D d, V x) {
  return LogAny<BaseTen>(d, x);
}

// log(1 + x) for x in (-1, inf): 1 + x = u + c exactly (Knuth's two-sum), u = 2^k m, and
// log(u + c) = k ln 2 + log(1 + f) with f = (m - 1) + c 2^-k, which is x itself when k = 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log1pInRange(D d, V x) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  const V u = hn::Add(x, one);
  const V x_part = hn::Sub(u, one);
  const V c = hn::Add(hn::Sub(one, hn::Sub(u, x_part)), hn::Sub(x, x_part));
  const LogSplit<V> split = SplitForLog(d, u);
  // Beyond 2^64 c no longer counts; the clamp keeps 2^-k a normal number.
  const V scale = PowerOfTwo(d, hn::Neg(AtMost(d, split.k, 64.0)));
  const V f = hn::MulAdd(c, scale, hn::Sub(split.mantissa, one));
  return AddKLn2(d, split.k, f, Log1pMinusArg(d, f));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log1p(D d, V x) {
  const V minus_one = hn::Set(d, hn::TFromD<D>(-1));
  V y = Log1pInRange(d, x);
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::And(hn::Gt(x, minus_one), hn::Lt(x, Infinity(d)))))) {
    y = MendLog(d, hn::Add(x, hn::Set(d, hn::TFromD<D>(1))), y);
  }
  return hn::CopySign(y, x);  // the sign of x, also for -0
}

}  // namespace fovea::kernels::HWY_NAMESPACE::vmath
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
