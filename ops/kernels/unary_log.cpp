// Logarithms, and what is made of them, on arrays.
#include <cstdint>

#include "fovea/ops/kernels/unary.h"
#include "fovea/ops/kernels/unary_macros.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/unary_log.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/loops-inl.h"
#include "fovea/ops/kernels/vmath-inl.h"

#undef FOVEA_TABLE
#define FOVEA_TABLE(X)               \
  X(log, vmath::Log(d, x))           \
  X(log2, vmath::Log2(d, x))         \
  X(log10, vmath::Log10(d, x))       \
  X(log1p, vmath::Log1p(d, x))       \
  X(softplus, vmath::Softplus(d, x)) \
  X(log_sigmoid, hn::Neg(vmath::Softplus(d, hn::Neg(x))))

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
