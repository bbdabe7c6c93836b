// Vector mathematics for kernels: the only door to it. Highway's own functions are 1 to 4 ulp
// inside their range and silently wrong outside (exp(NaN) = 0, log(0) = -105, expm1(200) = -1);
// these are right for NaN, infinities, zeros, overflow and underflow.
//
// Per-target header: a .cpp file that uses it names itself in HWY_TARGET_INCLUDE, includes
// <hwy/foreach_target.h> and then this, and is compiled once for each instruction set:
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "fovea/ops/kernels/softmax.cpp"
//   #include <hwy/foreach_target.h>  // must come before highway.h
//   #include "fovea/ops/kernels/vmath-inl.h"
//
// All functions take a Highway tag d (full vectors) and a vector of float or double:
// vmath::Exp, Exp2, Expm1, Tanh, Sigmoid, Log, Log2, Log10, Log1p, Erf, NormalDistribution,
// Softplus, Sin, Cos. Qualify the call (vmath::Exp(d, x)): Highway has functions of these names.
// Accuracy is stated in unary.h. Denormals may count as 0, in and out.
#if defined(FOVEA_OPS_KERNELS_VMATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_VMATH_INL_H_
#undef FOVEA_OPS_KERNELS_VMATH_INL_H_
#else
#define FOVEA_OPS_KERNELS_VMATH_INL_H_
#endif

#include <hwy/highway.h>

#include "fovea/ops/kernels/vmath_base-inl.h"
#include "fovea/ops/kernels/vmath_erf-inl.h"
#include "fovea/ops/kernels/vmath_exp-inl.h"
#include "fovea/ops/kernels/vmath_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE::vmath {

// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), which never overflows.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Softplus(D d, V x) {
  return hn::Add(AtLeast(d, x, 0.0), Log1pInRange(d, vmath::Exp(d, hn::Neg(hn::Abs(x)))));
}

}  // namespace fovea::kernels::HWY_NAMESPACE::vmath
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
