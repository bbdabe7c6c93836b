// exp and its kin, correct for every input: exp, exp2, expm1, tanh, sigmoid.
// Per-target header: included once for each instruction set (see vmath-inl.h).
//
// Cody and Waite's reduction: x = n ln 2 + r with |r| <= ln 2 / 2, exp(x) = 2^n exp(r), and
// exp(r) - 1 = r + r^2 q(r) with q a minimax polynomial (Remez, weighted by 1 / (exp(r) - 1)).
#if defined(FOVEA_OPS_KERNELS_VMATH_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_VMATH_EXP_INL_H_
#undef FOVEA_OPS_KERNELS_VMATH_EXP_INL_H_
#else
#define FOVEA_OPS_KERNELS_VMATH_EXP_INL_H_
#endif

#include <hwy/highway.h>

#include "fovea/ops/kernels/vmath_base-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE::vmath {

// exp(r) - 1 for |r| <= ln 2 / 2; relative error 1.4e-8 (float) and 1.8e-17 (double).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Expm1Reduced(D d, V r) {
  V q;
  if constexpr (kIsFloat<D>) {
    q = Horner(d, r, 0.500000006, 0.166665429, 0.0416662819, 0.0083665982, 0.00139464726);
  } else {
    q = Horner(d, r, 0.50000000000000055, 0.16666666666666686, 0.041666666666573794,
               0.0083333333333147561, 0.0013888888932363571, 0.00019841269902704319,
               2.4801504433339069e-05, 2.7557228219780456e-06, 2.7626340450700952e-07,
               2.5114396679372824e-08);
  }
  return hn::MulAdd(hn::Mul(r, r), q, r);
}

// The integer nearest to x / ln 2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Ln2Quotient(D d, V x) {
  using T = hn::TFromD<D>;
  const V rounder = hn::Set(d, kRounder<T>);
  return hn::Sub(hn::MulAdd(x, hn::Set(d, T(1.4426950408889634)), rounder), rounder);
}

// x - n ln 2. The first constant has trailing zeros, so that its product with n is exact.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Ln2Remainder(D d, V x, V n) {
  using T = hn::TFromD<D>;
  const V hi = hn::Set(d, T(kIsFloat<D> ? 0.693145751953125 : 0.69314718036912382));
  const V lo = hn::Set(d, T(kIsFloat<D> ? 1.42860682030941723e-6 : 1.90821492927058782e-10));
  return hn::NegMulAdd(n, lo, hn::NegMulAdd(n, hi, x));
}

// exp's argument cut to where the result has reached 0 or inf.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpClamp(D d, V x) {
  return AtMost(d, AtLeast(d, x, kIsFloat<D> ? -104.0 : -746.0), kIsFloat<D> ? 89.0 : 710.0);
}

// exp(x + tail) where |tail| << |x| holds the bits that x had no room for.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpWithTail(D d, V x, V tail) {
  const V clamped = ExpClamp(d, x);
  const V n = Ln2Quotient(d, clamped);
  const V p = Expm1Reduced(d, hn::Add(Ln2Remainder(d, clamped, n), tail));
  return Scale(d, hn::Add(p, hn::Set(d, hn::TFromD<D>(1))), n);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp(D d, V x) {
  const V clamped = ExpClamp(d, x);
  const V n = Ln2Quotient(d, clamped);
  const V p = Expm1Reduced(d, Ln2Remainder(d, clamped, n));
  return Scale(d, hn::Add(p, hn::Set(d, hn::TFromD<D>(1))), n);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp2(D d, V x) {
  using T = hn::TFromD<D>;
  const V clamped =
      AtMost(d, AtLeast(d, x, kIsFloat<D> ? -151.0 : -1076.0), kIsFloat<D> ? 128.0 : 1024.0);
  const V n = Nearest(d, clamped);
  const V r = hn::Mul(hn::Sub(clamped, n), hn::Set(d, T(0.69314718055994531)));
  return Scale(d, hn::Add(Expm1Reduced(d, r), hn::Set(d, T(1))), n);
}

// exp(x) - 1 = 2^n ((exp(r) - 1) + (1 - 2^-n)) for x between -40 and the overflow of exp.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Expm1InRange(D d, V x) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  const V n = Ln2Quotient(d, x);
  const V p = Expm1Reduced(d, Ln2Remainder(d, x, n));
  return Scale(d, hn::Add(p, hn::Sub(one, Scale(d, one, hn::Neg(n)))), n);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Expm1(D d, V x) {
  const V clamped = AtMost(d, AtLeast(d, x, -40.0), kIsFloat<D> ? 89.0 : 710.0);
  return WithSign(d, Expm1InRange(d, clamped), x);  // the sign of x, also for -0
}

// tanh|x| = e / (e + 2) with e = exp(2|x|) - 1: no cancellation, and 1 once e + 2 rounds to e.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Tanh(D d, V x) {
  using T = hn::TFromD<D>;
  const V ax = AtMost(d, hn::Abs(x), kIsFloat<D> ? 10.0 : 20.0);
  const V e = Expm1InRange(d, hn::Add(ax, ax));
  return WithSign(d, hn::Div(e, hn::Add(e, hn::Set(d, T(2)))), x);
}

// 1 / (1 + exp(-x)). Where exp overflows the quotient is 0, its limit, and each step keeps its
// relative accuracy, so this needs no case for the sign of x.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sigmoid(D d, V x) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  return hn::Div(one, hn::Add(one, vmath::Exp(d, hn::Neg(x))));
}

}  // namespace fovea::kernels::HWY_NAMESPACE::vmath
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
