// Activation functions on arrays; the formulas are in activations-inl.h.
#include <cstdint>

#include "fovea/ops/kernels/unary.h"
#include "fovea/ops/kernels/unary_macros.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/unary_activations.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/activations-inl.h"
#include "fovea/ops/kernels/loops-inl.h"

#undef FOVEA_TABLE
#define FOVEA_TABLE(X)         \
  X(erf, vmath::Erf(d, x))     \
  X(gelu, Gelu(d, x))          \
  X(gelu_tanh, GeluTanh(d, x)) \
  X(silu, Silu(d, x))          \
  X(mish, Mish(d, x))          \
  X(elu, Elu(d, x))

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
