// Comparisons and logic of two arrays; results are bytes of 0 or 1.
#include <cstdint>

#include "fovea/ops/kernels/binary.h"
#include "fovea/ops/kernels/binary_macros.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/binary_compare.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/loops-inl.h"

#undef FOVEA_TABLE
#define FOVEA_TABLE(X) \
  X(eq, a == b)        \
  X(ne, a != b)        \
  X(lt, a < b)         \
  X(le, a <= b)        \
  X(gt, a > b)         \
  X(ge, a >= b)

#undef FOVEA_LOGIC_TABLE
#define FOVEA_LOGIC_TABLE(X)          \
  X(logical_and, (a != 0) & (b != 0)) \
  X(logical_or, (a | b) != 0)         \
  X(logical_xor, (a != 0) != (b != 0))

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
#define FOVEA_BODIES(name, expression)          \
  FOVEA_PLAIN_OP(name, expression)              \
  FOVEA_PLAIN_BODY(name, f32, float, uint8_t)   \
  FOVEA_PLAIN_BODY(name, f64, double, uint8_t)  \
  FOVEA_PLAIN_BODY(name, i64, int64_t, uint8_t) \
  FOVEA_PLAIN_BODY(name, u8, uint8_t, uint8_t)
FOVEA_TABLE(FOVEA_BODIES)
#undef FOVEA_BODIES

#define FOVEA_BODIES(name, expression) \
  FOVEA_PLAIN_OP(name, expression)     \
  FOVEA_PLAIN_BODY(name, u8, uint8_t, uint8_t)
FOVEA_LOGIC_TABLE(FOVEA_BODIES)
#undef FOVEA_BODIES
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
#define FOVEA_EXPORTS(name, expression)            \
  FOVEA_BINARY_EXPORT(name, f32, float, uint8_t)   \
  FOVEA_BINARY_EXPORT(name, f64, double, uint8_t)  \
  FOVEA_BINARY_EXPORT(name, i64, int64_t, uint8_t) \
  FOVEA_BINARY_EXPORT(name, u8, uint8_t, uint8_t)
FOVEA_TABLE(FOVEA_EXPORTS)
#undef FOVEA_EXPORTS

#define FOVEA_EXPORTS(name, expression) FOVEA_BINARY_EXPORT(name, u8, uint8_t, uint8_t)
FOVEA_LOGIC_TABLE(FOVEA_EXPORTS)
#undef FOVEA_EXPORTS

// Equal to x == 0 for each element.
void logical_not(const std::uint8_t* x, std::uint8_t* y, std::int64_t n) {
  const std::uint8_t zero = 0;
  eq(x, 1, &zero, 0, y, n);
}
}  // namespace fovea::kernels
#endif  // HWY_ONCE
