// The error function and the normal distribution, correct for every input and with relative
// accuracy in the tails.
// Per-target header: included once for each instruction set (see vmath-inl.h).
//
// Everything stands on erfcx(z) = exp(z^2) erfc(z), z >= 0, which varies slowly: with
// w = 1 / (z + K) and t = 1 - 2 K w in [-1, 1), erfcx(z) = w P(t), P minimax (the map of Shepherd
// and Laframboise, Math. Comp. 36, 1981; coefficients by Remez's algorithm).
#if defined(FOVEA_OPS_KERNELS_VMATH_ERF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_VMATH_ERF_INL_H_
#undef FOVEA_OPS_KERNELS_VMATH_ERF_INL_H_
#else
#define FOVEA_OPS_KERNELS_VMATH_ERF_INL_H_
#endif

#include <hwy/highway.h>

#include "fovea/ops/kernels/vmath_base-inl.h"
#include "fovea/ops/kernels/vmath_exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE::vmath {

// exp(z^2) erfc(z) for 0 <= z <= 11 (float), 28 (double); relative error of the fit 3e-9, 2e-17.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Erfcx(D d, V z) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T(1));
  const T kCentre = kIsFloat<D> ? T(3) : T(4);
  const V w = hn::Div(one, hn::Add(z, hn::Set(d, kCentre)));
  const V t = hn::NegMulAdd(hn::Set(d, 2 * kCentre), w, one);
  if constexpr (kIsFloat<D>) {
    return hn::Mul(
        w, Horner(d, t, 1.07400691, -0.883394497, 0.59022824, -0.31046571, 0.119529978,
                  -0.026841597, -0.00123147807, 0.00308194749, -0.000474024247, -0.00032050992));
  } else {
    return hn::Mul(
        w,
        Horner(d, t, 1.0959956610004911, -0.97654872908088253, 0.77320870226524063,
               -0.54085383131318165, 0.330851587877798, -0.1740109372416736, 0.076381514914046003,
               -0.026370053313877467, 0.0061120556044313096, -0.00028095909157382622,
               -0.0004550523776463949, 0.00017681400657611776, -3.6362280381146365e-06,
               -1.8864880186695455e-05, 4.6964614221607887e-06, 1.4328100179252121e-06,
               -8.4801871714737886e-07, -8.7063949599987746e-08, 1.2385600180749795e-07,
               9.5741643988118689e-09, -1.3640696987537474e-08, -2.6911006484011001e-09));
  }
}

// exp(-scale z^2) for z >= 0, scale a power of two. Rounding z^2 would cost |z^2| ulp, so z = h + l
// with h short: h^2 is exact and z^2 - h^2 = l (z + h) is small.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpMinusSquare(D d, V z, hn::TFromD<D> scale) {
  const hn::RebindToUnsigned<D> du;
  using TU = hn::TFromD<decltype(du)>;
  constexpr TU kShort = kIsFloat<D> ? ~TU(0xFFF) : ~TU(0x7FFFFFF);
  const V h = hn::BitCast(d, hn::And(hn::BitCast(du, z), hn::Set(du, kShort)));
  const V minus_scale = hn::Set(d, -scale);
  const V tail = hn::Mul(hn::Mul(hn::Sub(z, h), hn::Add(z, h)), minus_scale);
  return ExpWithTail(d, hn::Mul(hn::Mul(h, h), minus_scale), tail);
}

// erf(z) / z as a polynomial in z^2 for |z| <= 1; relative error 1.2e-9, 7.3e-18.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ErfNearZero(D d, V z2) {
  if constexpr (kIsFloat<D>) {
    return Horner(d, z2, 1.12837917, -0.376126258, 0.112835852, -0.0268538121, 0.00518832793,
                  -0.00080101956, 7.85386724e-05);
  } else {
    return Horner(d, z2, 1.1283791670955126, -0.3761263890318352, 0.11283791670944185,
                  -0.02686617064311153, 0.0052239776061188799, -0.00085483259293297901,
                  0.00012055293577272878, -1.4924712308029718e-05, 1.6447131635680484e-06,
                  -1.6206314196309947e-07, 1.3710982108482452e-08, -7.7794714069574145e-10);
  }
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Erf(D d, V x) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T(1));
  const V z = AtMost(d, hn::Abs(x), kIsFloat<D> ? 4.0 : 6.0);  // erf is 1 from there on
  const V near = hn::Mul(z, ErfNearZero(d, hn::Mul(z, z)));
  const V far = hn::NegMulAdd(ExpMinusSquare(d, z, T(1)), Erfcx(d, z), one);
  return WithSign(d, hn::IfThenElse(hn::Lt(z, one), near, far), x);
}

template <class V>
struct NormalValues {
  V cdf;       // Phi(x) = erfc(-x / sqrt 2) / 2
  V exp_half;  // exp(-x^2 / 2), sqrt(2 pi) times the density
};

// The tail below 0 keeps its relative accuracy until it underflows.
template <class D, class V = hn::Vec<D>>
HWY_INLINE NormalValues<V> NormalDistribution(D d, V x) {
  using T = hn::TFromD<D>;
  const V ax = AtMost(d, hn::Abs(x), kIsFloat<D> ? 15.0 : 39.0);  // the tail underflows before
  const V e = ExpMinusSquare(d, ax, T(0.5));
  const V z = hn::Mul(ax, hn::Set(d, T(0.70710678118654752)));
  const V tail = hn::Mul(hn::Mul(e, hn::Set(d, T(0.5))), Erfcx(d, z));
  const V upper = hn::Sub(hn::Set(d, T(1)), tail);
  return {hn::IfThenElse(hn::Gt(x, hn::Zero(d)), upper, tail), e};
}

}  // namespace fovea::kernels::HWY_NAMESPACE::vmath
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
