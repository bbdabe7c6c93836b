// max, min and where they are. NaN propagates, as in PyTorch and unlike the hardware's instruction.
#include <cstring>
#include <limits>
#include <type_traits>

#include "fovea/ops/kernels/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/reduce_extreme.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

struct Max {
  template <class T>
  static constexpr T identity() {
    return std::is_integral_v<T> ? std::numeric_limits<T>::min()
                                 : -std::numeric_limits<T>::infinity();
  }
  template <class V>
  static HWY_INLINE V Pick(V a, V b) {
    return hn::Max(a, b);
  }
  template <class T>
  static T Pick1(T a, T b) {
    return a > b ? a : b;
  }
};

struct Min {
  template <class T>
  static constexpr T identity() {
    return std::is_integral_v<T> ? std::numeric_limits<T>::max()
                                 : std::numeric_limits<T>::infinity();
  }
  template <class V>
  static HWY_INLINE V Pick(V a, V b) {
    return hn::Min(a, b);
  }
  template <class T>
  static T Pick1(T a, T b) {
    return a < b ? a : b;
  }
};

template <class D, class V>
HWY_INLINE hn::Mask<D> Unordered(D d, V v) {
  if constexpr (std::is_integral_v<hn::TFromD<D>>) {
    return hn::FirstN(d, 0);
  } else {
    (void)d;
    return hn::IsNaN(v);
  }
}

template <class Op, class T>
HWY_INLINE T Extreme(const T* x, int64_t n) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr T none = Op::template identity<T>();
  auto a0 = hn::Set(d, none), a1 = a0, a2 = a0, a3 = a0;
  auto nan = hn::FirstN(d, 0);  // kept apart: the hardware's max may drop a NaN operand
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto v0 = hn::LoadU(d, x + i), v1 = hn::LoadU(d, x + i + lanes);
    const auto v2 = hn::LoadU(d, x + i + 2 * lanes), v3 = hn::LoadU(d, x + i + 3 * lanes);
    nan = hn::Or(nan, hn::Or(hn::Or(Unordered(d, v0), Unordered(d, v1)),
                             hn::Or(Unordered(d, v2), Unordered(d, v3))));
    a0 = Op::Pick(a0, v0);
    a1 = Op::Pick(a1, v1);
    a2 = Op::Pick(a2, v2);
    a3 = Op::Pick(a3, v3);
  }
  const auto fold = [&](auto v) HWY_ATTR {
    nan = hn::Or(nan, Unordered(d, v));
    a0 = Op::Pick(a0, v);
  };
  for (; i + lanes <= n; i += lanes) fold(hn::LoadU(d, x + i));
  if (i < n) fold(LoadN(d, x + i, static_cast<size_t>(n - i), none));
  if constexpr (!std::is_integral_v<T>) {
    if (!hn::AllFalse(d, nan)) return std::numeric_limits<T>::quiet_NaN();
  }
  HWY_ALIGN T buffer[hn::MaxLanes(d)];
  hn::Store(Op::Pick(Op::Pick(a0, a1), Op::Pick(a2, a3)), d, buffer);
  T result = buffer[0];
  for (int64_t lane = 1; lane < lanes; ++lane) result = Op::Pick1(result, buffer[lane]);
  return result;
}

// The first place of `value`, which is there; NaN looks for the first NaN.
template <class T>
HWY_INLINE int64_t Find(const T* x, int64_t n, T value) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool want_nan = value != value;
  const auto wanted = hn::Set(d, value);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    const auto hit = want_nan ? Unordered(d, v) : hn::Eq(v, wanted);
    const intptr_t lane = hn::FindFirstTrue(d, hit);
    if (lane >= 0) return i + lane;
  }
  for (; i < n; ++i) {
    if (want_nan ? x[i] != x[i] : x[i] == value) return i;
  }
  return 0;
}

template <class Op, class T>
HWY_INLINE void ExtremeRows(const T* x, int64_t rows, int64_t row_stride, int64_t cols, T* acc) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto body = [&](const T* row, int64_t c, const auto& memory) HWY_ATTR {
    const auto v = memory.Load(d, row + c);
    const auto old = memory.Load(d, acc + c);
    const auto picked = hn::IfThenElse(Unordered(d, v), v, Op::Pick(old, v));
    memory.Store(d, hn::IfThenElse(Unordered(d, old), old, picked), acc + c);
  };
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = x + r * row_stride;
    int64_t c = 0;
    for (; c + lanes <= cols; c += lanes) body(row, c, Whole());
    if (c < cols) body(row, c, Partial{static_cast<size_t>(cols - c)});
  }
}

// clang-format off
#define FOVEA_EXTREME(Name, Op, Suffix, T)                                                     \
  T Name##Suffix(const T* x, int64_t n) { return Extreme<Op>(x, n); }                          \
  int64_t Arg##Name##Suffix(const T* x, int64_t n) { return Find(x, n, Extreme<Op>(x, n)); }   \
  void Rows##Name##Suffix(const T* x, int64_t rows, int64_t stride, int64_t cols, T* acc) {    \
    ExtremeRows<Op>(x, rows, stride, cols, acc);                                               \
  }
// clang-format on
FOVEA_EXTREME(Max, Max, F32, float)
FOVEA_EXTREME(Max, Max, F64, double)
FOVEA_EXTREME(Max, Max, I64, int64_t)
FOVEA_EXTREME(Min, Min, F32, float)
FOVEA_EXTREME(Min, Min, F64, double)
FOVEA_EXTREME(Min, Min, I64, int64_t)
#undef FOVEA_EXTREME

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

namespace {

// wins(v, best): v replaces best. Columns side by side, so that memory is read in order.
template <class T, class Wins>
void arg_rows(const T* x, int64_t rows, int64_t row_stride, int64_t cols, int64_t first_row, T* acc,
              int64_t* index, Wins wins) {
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = x + r * row_stride;
    const bool start = first_row + r == 0;
    for (int64_t c = 0; c < cols; ++c) {
      const bool replace = start || wins(row[c], acc[c]) || (row[c] != row[c] && acc[c] == acc[c]);
      acc[c] = replace ? row[c] : acc[c];
      index[c] = replace ? first_row + r : index[c];
    }
  }
}

}  // namespace

// clang-format off
#define FOVEA_EXTREME(name, Name, Suffix, T, compare)                                             \
  HWY_EXPORT(Name##Suffix);                                                                       \
  HWY_EXPORT(Arg##Name##Suffix);                                                                  \
  HWY_EXPORT(Rows##Name##Suffix);                                                                 \
  T name(const T* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(Name##Suffix)(x, n); }              \
  int64_t arg##name(const T* x, int64_t n) {                                                      \
    return HWY_DYNAMIC_DISPATCH(Arg##Name##Suffix)(x, n);                                         \
  }                                                                                               \
  void name##_rows(const T* x, int64_t rows, int64_t row_stride, int64_t cols, T* acc) {          \
    HWY_DYNAMIC_DISPATCH(Rows##Name##Suffix)(x, rows, row_stride, cols, acc);                     \
  }                                                                                               \
  void arg##name##_rows(const T* x, int64_t rows, int64_t row_stride, int64_t cols,               \
                        int64_t first_row, T* acc, int64_t* index) {                              \
    arg_rows(x, rows, row_stride, cols, first_row, acc, index,                                    \
             [](T v, T best) { return v compare best; });                                         \
  }
// clang-format on
FOVEA_EXTREME(max, Max, F32, float, >)
FOVEA_EXTREME(max, Max, F64, double, >)
FOVEA_EXTREME(max, Max, I64, int64_t, >)
FOVEA_EXTREME(min, Min, F32, float, <)
FOVEA_EXTREME(min, Min, F64, double, <)
FOVEA_EXTREME(min, Min, I64, int64_t, <)
#undef FOVEA_EXTREME

bool any(const uint8_t* x, int64_t n) {
  return n > 0 && std::memchr(x, 1, static_cast<size_t>(n)) != nullptr;
}

bool all(const uint8_t* x, int64_t n) {
  return n <= 0 || std::memchr(x, 0, static_cast<size_t>(n)) == nullptr;
}

}  // namespace fovea::kernels
#endif  // HWY_ONCE
