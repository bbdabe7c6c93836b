// Backward of the elementwise functions: one pass over what was saved and the upstream gradient gy.
#include "fovea/ops/kernels/unary_backward.h"

#include <cstdint>

#include "fovea/ops/kernels/unary_macros.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/unary_backward.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/activations-inl.h"
#include "fovea/ops/kernels/loops-inl.h"

#undef FOVEA_TABLE
#define FOVEA_TABLE(X)                                                            \
  X(sqrt, hn::IfThenZeroElse(hn::Eq(s, hn::Zero(d)), hn::Div(gy, hn::Add(s, s)))) \
  X(rsqrt, hn::Mul(hn::Mul(gy, s), hn::Mul(hn::Mul(s, s), Constant(d, -0.5))))    \
  X(tanh, hn::Mul(gy, hn::NegMulAdd(s, s, Constant(d, 1))))                       \
  X(sigmoid, hn::Mul(gy, hn::NegMulAdd(s, s, s)))                                 \
  X(relu, hn::IfThenElseZero(hn::Gt(s, hn::Zero(d)), gy))                         \
  X(abs, hn::Mul(gy, Sign(d, s)))                                                 \
  X(erf, hn::Mul(gy, ErfDerivative(d, s)))                                        \
  X(gelu, hn::Mul(gy, GeluDerivative(d, s)))                                      \
  X(gelu_tanh, hn::Mul(gy, GeluTanhDerivative(d, s)))                             \
  X(silu, hn::Mul(gy, SiluDerivative(d, s)))                                      \
  X(softplus, hn::Mul(gy, vmath::Sigmoid(d, s)))                                  \
  X(log_sigmoid, hn::Mul(gy, vmath::Sigmoid(d, hn::Neg(s))))                      \
  X(mish, hn::Mul(gy, MishDerivative(d, s)))                                      \
  X(elu, hn::IfThenElse(hn::Gt(s, hn::Zero(d)), gy, hn::Mul(gy, vmath::Exp(d, s))))

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
FOVEA_TABLE(FOVEA_BACKWARD_BODY)
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
FOVEA_TABLE(FOVEA_BACKWARD_EXPORT)
}  // namespace fovea::kernels
#endif  // HWY_ONCE
