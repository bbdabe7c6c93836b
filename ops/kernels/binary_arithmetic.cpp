// Arithmetic of two floating-point arrays.
#include <cstdint>

#include "fovea/ops/kernels/binary.h"
#include "fovea/ops/kernels/binary_macros.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/binary_arithmetic.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/loops-inl.h"

// Lt is false for NaN, so b comes through; a NaN in a is taken first.
#undef FOVEA_TABLE
#define FOVEA_TABLE(X)                                                 \
  X(add, hn::Add(a, b))                                                \
  X(sub, hn::Sub(a, b))                                                \
  X(mul, hn::Mul(a, b))                                                \
  X(div, hn::Div(a, b))                                                \
  X(minimum, hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b)) \
  X(maximum, hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b))

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
#define FOVEA_BODIES(name, expression) \
  FOVEA_BINARY_OP(name, expression)    \
  FOVEA_BINARY_BODY(name, f32, float)  \
  FOVEA_BINARY_BODY(name, f64, double)
FOVEA_TABLE(FOVEA_BODIES)
#undef FOVEA_BODIES
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
#define FOVEA_EXPORTS(name, expression)        \
  FOVEA_BINARY_EXPORT(name, f32, float, float) \
  FOVEA_BINARY_EXPORT(name, f64, double, double)
FOVEA_TABLE(FOVEA_EXPORTS)
#undef FOVEA_EXPORTS
}  // namespace fovea::kernels
#endif  // HWY_ONCE
