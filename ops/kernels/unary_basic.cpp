// Arithmetic, rounding and sign functions of one argument on arrays.
#include <cmath>
#include <cstdint>

#include "fovea/ops/kernels/unary.h"
#include "fovea/ops/kernels/unary_macros.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/unary_basic.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/activations-inl.h"
#include "fovea/ops/kernels/loops-inl.h"

#undef FOVEA_TABLE
#define FOVEA_TABLE(X)                           \
  X(neg, hn::Neg(x))                             \
  X(abs, hn::Abs(x))                             \
  X(sign, Sign(d, x))                            \
  X(square, hn::Mul(x, x))                       \
  X(reciprocal, hn::Div(Constant(d, 1), x))      \
  X(sqrt, hn::Sqrt(x))                           \
  X(rsqrt, hn::Div(Constant(d, 1), hn::Sqrt(x))) \
  X(relu, vmath::AtLeast(d, x, 0.0))             \
  X(floor, RoundLanes(d, x, FloorOp()))          \
  X(ceil, RoundLanes(d, x, CeilOp()))            \
  X(round, RoundLanes(d, x, RoundOp()))          \
  X(trunc, RoundLanes(d, x, TruncOp()))

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// Rounding instructions; the portable targets of Highway lose the sign of -0 and go lane by lane
// instead. nearbyint rounds half to even in the default mode.
#define FOVEA_ROUNDING(Op, Vector, scalar) \
  struct Op {                              \
    template <class V>                     \
    static HWY_INLINE V OnVector(V x) {    \
      return hn::Vector(x);                \
    }                                      \
    template <class T>                     \
    static HWY_INLINE T OnScalar(T x) {    \
      return std::scalar(x);               \
    }                                      \
  };
FOVEA_ROUNDING(FloorOp, Floor, floor)
FOVEA_ROUNDING(CeilOp, Ceil, ceil)
FOVEA_ROUNDING(RoundOp, Round, nearbyint)
FOVEA_ROUNDING(TruncOp, Trunc, trunc)
#undef FOVEA_ROUNDING

template <class D, class V, class Op>
HWY_INLINE V RoundLanes([[maybe_unused]] D d, V x, Op /*op*/) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (auto& lane : lanes) lane = Op::OnScalar(lane);
  return hn::Load(d, lanes);
#else
  return Op::OnVector(x);
#endif
}

FOVEA_TABLE(FOVEA_UNARY_BODY)
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
FOVEA_TABLE(FOVEA_UNARY_EXPORT)

// Through unsigned, where wrap-around is defined.
static std::int64_t wrap(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }
static std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }

void neg(const std::int64_t* x, std::int64_t* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = wrap(0 - bits(x[i]));
}
void abs(const std::int64_t* x, std::int64_t* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] < 0 ? wrap(0 - bits(x[i])) : x[i];
}
void sign(const std::int64_t* x, std::int64_t* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] > 0) - (x[i] < 0);
}
void square(const std::int64_t* x, std::int64_t* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = wrap(bits(x[i]) * bits(x[i]));
}
}  // namespace fovea::kernels
#endif  // HWY_ONCE
