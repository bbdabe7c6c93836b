// sin and cos, correct for every input.
// Per-target header: included once for each instruction set (see vmath-inl.h).
#if defined(FOVEA_OPS_KERNELS_VMATH_TRIG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_VMATH_TRIG_INL_H_
#undef FOVEA_OPS_KERNELS_VMATH_TRIG_INL_H_
#else
#define FOVEA_OPS_KERNELS_VMATH_TRIG_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>

#include "fovea/ops/kernels/vmath_base-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE::vmath {

// Highway subtracts multiples of pi in four parts, which holds for small quotients only.
template <class D>
inline constexpr hn::TFromD<D> kTrigLimit = kIsFloat<D> ? 10000 : 1000000;

// y, with the lanes outside the limit (inf and NaN among them) recomputed one by one.
template <class D, class V, class Scalar>
HWY_INLINE V MendTrig(D d, V x, V y, Scalar scalar) {
  using T = hn::TFromD<D>;
  if (HWY_LIKELY(hn::AllTrue(d, hn::Lt(hn::Abs(x), hn::Set(d, kTrigLimit<D>))))) return y;
  HWY_ALIGN T xs[hn::MaxLanes(d)];
  HWY_ALIGN T ys[hn::MaxLanes(d)];
  hn::Store(x, d, xs);
  hn::Store(y, d, ys);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (!(std::fabs(xs[i]) < kTrigLimit<D>)) ys[i] = scalar(xs[i]);
  }
  return hn::Load(d, ys);
}

struct ScalarSin {
  template <class T>
  HWY_INLINE T operator()(T x) const {
    return std::sin(x);
  }
};
struct ScalarCos {
  template <class T>
  HWY_INLINE T operator()(T x) const {
    return std::cos(x);
  }
};

// Highway's conversion to int is undefined beyond its range: those lanes get 0 first.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ZeroOutside(D d, V x) {
  return hn::IfThenElseZero(hn::Lt(hn::Abs(x), hn::Set(d, kTrigLimit<D>)), x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sin(D d, V x) {
  const V y = hn::Sin(d, ZeroOutside(d, x));
  return MendTrig(d, x, hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y), ScalarSin());  // keeps -0
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Cos(D d, V x) {
  return MendTrig(d, x, hn::Cos(d, ZeroOutside(d, x)), ScalarCos());
}

}  // namespace fovea::kernels::HWY_NAMESPACE::vmath
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
