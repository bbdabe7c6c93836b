// sin and cos on arrays, in radians.
#include <cstdint>

#include "fovea/ops/kernels/unary.h"
#include "fovea/ops/kernels/unary_macros.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/unary_trig.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/loops-inl.h"
#include "fovea/ops/kernels/vmath_trig-inl.h"

#undef FOVEA_TABLE
#define FOVEA_TABLE(X)     \
  X(sin, vmath::Sin(d, x)) \
  X(cos, vmath::Cos(d, x))

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
