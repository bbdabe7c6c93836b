// pow for float through double, correct for every pair of inputs.
// Per-target header: included once for each instruction set (see vmath-inl.h).
#if defined(FOVEA_OPS_KERNELS_VMATH_POW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_VMATH_POW_INL_H_
#undef FOVEA_OPS_KERNELS_VMATH_POW_INL_H_
#else
#define FOVEA_OPS_KERNELS_VMATH_POW_INL_H_
#endif

#include <hwy/highway.h>

#include "fovea/ops/kernels/vmath_base-inl.h"
#include "fovea/ops/kernels/vmath_exp-inl.h"
#include "fovea/ops/kernels/vmath_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE::vmath {

// x^y where d holds doubles but x and y are floats, made double. |x|^y = exp(y log|x|): where the
// result is in float's range |y log|x|| < 104, so double leaves an error of 1e-14, nothing in
// float. log 0 = -inf and log inf = inf give the limits; what remains is 1 at y = 0 and at |x| = 1,
// and the sign: odd y keeps that of x, a fractional y has no real power of x < 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V PowOfFloats(D d, V x, V y) {
  static_assert(!kIsFloat<D>, "needs doubles");
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0), inf = Infinity(d);
  const V ax = hn::Abs(x), ay = hn::Abs(y);
  V power = vmath::Exp(d, hn::Mul(y, vmath::Log(d, ax)));

  const V cut = AtMost(d, ay, 0x1p40);  // floats beyond 2^24 are even integers
  const auto whole = hn::Eq(Nearest(d, cut), cut);
  const V half = hn::Mul(cut, hn::Set(d, 0.5));
  const auto odd = hn::And(whole, hn::Ne(Nearest(d, half), half));
  power = hn::Xor(power, hn::IfThenElseZero(odd, hn::And(x, hn::SignBit(d))));
  const auto negative = hn::And(hn::Lt(x, zero), hn::Lt(ax, inf));
  power = hn::IfThenElse(hn::AndNot(whole, negative), hn::NaN(d), power);

  const auto unit_to_infinity = hn::And(hn::Eq(ax, one), hn::Eq(ay, inf));
  const auto is_one = hn::Or(hn::Or(hn::Eq(y, zero), hn::Eq(x, one)), unit_to_infinity);
  return hn::IfThenElse(is_one, one, power);
}

}  // namespace fovea::kernels::HWY_NAMESPACE::vmath
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
