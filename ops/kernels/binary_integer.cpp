// Arithmetic of two arrays of 64-bit integers; it wraps around, through unsigned.
#include <cstdint>

#include "fovea/ops/kernels/binary.h"
#include "fovea/ops/kernels/binary_macros.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/binary_integer.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/loops-inl.h"

#undef FOVEA_TABLE
#define FOVEA_TABLE(X)                                                        \
  X(add, static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b))) \
  X(sub, static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b))) \
  X(mul, static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b))) \
  X(minimum, a < b ? a : b)                                                   \
  X(maximum, a > b ? a : b)                                                   \
  X(floor_divide, FloorDivide(a, b))                                          \
  X(remainder, FloorRemainder(a, b))

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
// 0 for b = 0. The quotient by -1 is the wrapped negative: the processor traps on -2^63 / -1.
HWY_INLINE int64_t FloorDivide(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  const int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}
HWY_INLINE int64_t FloorRemainder(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

#define FOVEA_BODIES(name, expression) \
  FOVEA_PLAIN_OP(name, expression)     \
  FOVEA_PLAIN_BODY(name, i64, int64_t, int64_t)
FOVEA_TABLE(FOVEA_BODIES)
#undef FOVEA_BODIES
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
#define FOVEA_EXPORTS(name, expression) FOVEA_BINARY_EXPORT(name, i64, int64_t, int64_t)
FOVEA_TABLE(FOVEA_EXPORTS)
#undef FOVEA_EXPORTS

bool contains_zero(const std::int64_t* b, std::int64_t sb, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (b[i * sb] == 0) return true;
    if (sb == 0) return false;
  }
  return false;
}
}  // namespace fovea::kernels
#endif  // HWY_ONCE
