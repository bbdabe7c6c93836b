// Activation functions and their derivatives on vectors, finite limits at +-inf included.
// Per-target header: included once for each instruction set (see vmath-inl.h).
#if defined(FOVEA_OPS_KERNELS_ACTIVATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_ACTIVATIONS_INL_H_
#undef FOVEA_OPS_KERNELS_ACTIVATIONS_INL_H_
#else
#define FOVEA_OPS_KERNELS_ACTIVATIONS_INL_H_
#endif

#include <hwy/highway.h>

#include "fovea/ops/kernels/vmath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> Constant(D d, double c) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(c));
}

// x cut to [-1000, 1000]: there x f(x) has reached its limit for every f below that falls
// exponentially, and 0 * inf does not arise.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Finite(D d, V x) {
  return vmath::AtMost(d, vmath::AtLeast(d, x, -1000.0), 1000.0);
}

// 2 / sqrt(pi) exp(-x^2)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ErfDerivative(D d, V x) {
  const V e = vmath::ExpMinusSquare(d, hn::Abs(Finite(d, x)), hn::TFromD<D>(1));
  return hn::Mul(Constant(d, 1.1283791670955126), e);
}

// -1, 0 or 1; -0 and NaN stay.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sign(D d, V x) {
  const auto nonzero = hn::Gt(hn::Abs(x), hn::Zero(d));
  return hn::IfThenElse(nonzero, hn::CopySignToAbs(Constant(d, 1), x), x);
}

// sigmoid(u) and its derivative sigmoid(u) (1 - sigmoid(u)), both from z = exp(-|u|).
template <class V>
struct SigmoidValues {
  V value, derivative;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE SigmoidValues<V> SigmoidWithDerivative(D d, V u) {
  const V one = Constant(d, 1);
  const V z = vmath::Exp(d, hn::Neg(hn::Abs(u)));
  const V upper = hn::Div(one, hn::Add(one, z));
  const V lower = hn::Mul(z, upper);
  return {hn::IfThenElse(hn::Lt(u, hn::Zero(d)), lower, upper), hn::Mul(lower, upper)};
}

// x sigmoid(x)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Silu(D d, V x) {
  const V e = vmath::Exp(d, hn::Neg(x));
  return hn::Div(vmath::AtLeast(d, x, -1000.0), hn::Add(e, Constant(d, 1)));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SiluDerivative(D d, V x) {
  const auto s = SigmoidWithDerivative(d, x);
  return hn::MulAdd(Finite(d, x), s.derivative, s.value);
}

// x Phi(x)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Gelu(D d, V x) {
  return hn::Mul(vmath::AtLeast(d, x, -1000.0), vmath::NormalDistribution(d, x).cdf);
}
// Phi(x) + x phi(x)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V GeluDerivative(D d, V x) {
  const auto normal = vmath::NormalDistribution(d, x);
  const V density = hn::Mul(normal.exp_half, Constant(d, 0.39894228040143268));  // 1 / sqrt(2 pi)
  return hn::MulAdd(Finite(d, x), density, normal.cdf);
}

// (1 + tanh u) / 2 = sigmoid(2 u) with 2 u = 2 sqrt(2 / pi) (x + 0.044715 x^3).
inline constexpr double kGeluSlope = 1.5957691216057308;   // 2 sqrt(2 / pi)
inline constexpr double kGeluCube = 0.071354816272600248;  // 0.044715 times that
template <class D, class V = hn::Vec<D>>
HWY_INLINE V GeluTanh(D d, V x) {
  const V u = hn::Mul(x, vmath::Horner(d, hn::Mul(x, x), kGeluSlope, kGeluCube));
  const V e = vmath::Exp(d, hn::Neg(u));
  return hn::Div(vmath::AtLeast(d, x, -1000.0), hn::Add(e, Constant(d, 1)));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V GeluTanhDerivative(D d, V x) {
  const V xf = Finite(d, x);
  const V x2 = hn::Mul(xf, xf);
  const auto s = SigmoidWithDerivative(d, hn::Mul(xf, vmath::Horner(d, x2, kGeluSlope, kGeluCube)));
  const V slope = vmath::Horner(d, x2, kGeluSlope, 3 * kGeluCube);
  return hn::MulAdd(hn::Mul(xf, slope), s.derivative, s.value);
}

// tanh(log(1 + e)) = m / (m + 2) with e = exp(x), m = e (e + 2); 1 - tanh^2 = 4 (1 + e)^2 / (m +
// 2)^2. x is cut where the quotient has become 1, before e^2 overflows.
template <class V>
struct MishTerms {
  V e, m, denominator;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE MishTerms<V> MishParts(D d, V x) {
  const V two = Constant(d, 2);
  const V e = vmath::Exp(d, vmath::AtMost(d, x, vmath::kIsFloat<D> ? 20.0 : 40.0));
  const V m = hn::Mul(e, hn::Add(e, two));
  return {e, m, hn::Add(m, two)};
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Mish(D d, V x) {
  const auto p = MishParts(d, x);
  return hn::Mul(vmath::AtLeast(d, x, -1000.0), hn::Div(p.m, p.denominator));
}
// t + x (1 - t^2) sigmoid(x), where (1 - t^2) sigmoid(x) = 4 e (1 + e) / (m + 2)^2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V MishDerivative(D d, V x) {
  const auto p = MishParts(d, x);
  const V inverse = hn::Div(Constant(d, 1), p.denominator);
  const V numerator = hn::Mul(hn::Mul(Constant(d, 4), p.e), hn::Add(p.e, Constant(d, 1)));
  const V slope = hn::Mul(hn::Mul(numerator, inverse), inverse);
  return hn::MulAdd(Finite(d, x), slope, hn::Mul(p.m, inverse));
}

// x above 0, exp(x) - 1 below
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Elu(D d, V x) {
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, vmath::Expm1(d, x));
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
