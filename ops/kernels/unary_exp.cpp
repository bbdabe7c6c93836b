// exp and its kin on arrays.
#include <cstdint>

#include "fovea/ops/kernels/unary.h"
#include "fovea/ops/kernels/unary_macros.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/unary_exp.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/loops-inl.h"
#include "fovea/ops/kernels/vmath-inl.h"

#undef FOVEA_TABLE
#define FOVEA_TABLE(X)         \
  X(exp, vmath::Exp(d, x))     \
  X(exp2, vmath::Exp2(d, x))   \
  X(expm1, vmath::Expm1(d, x)) \
  X(tanh, vmath::Tanh(d, x))   \
  X(sigmoid, vmath::Sigmoid(d, x))

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
FOVEA_TABLE(FOVEA_UNARY_BODY)
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
FOVEA_TABLE(FOVEA_UNARY_EXPORT)
}  // namespace fovea::kernels
#endif  // HWY_ONCE
