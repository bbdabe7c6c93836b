#include "fovea/ops/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/row-inl.h"
#include "fovea/ops/kernels/vmath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE bool Finite(const T* x, int64_t rows, int64_t cols, int64_t ld) {
  const hn::ScalableTag<T> dt;
  auto sum = hn::Zero(dt);  // x - x is 0 or NaN
  for (int64_t r = 0; r < rows; ++r, x += ld) {
    ForRow<T>(cols, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
      const auto v = memory.Load(d, x + i);
      sum = hn::Add(sum, hn::Sub(v, v));
    });
  }
  return hn::GetLane(hn::SumOfLanes(dt, sum)) == 0;
}

// s = exp(s - top); returns the sum.
template <class T>
HWY_INLINE T ExpRow(T* s, int64_t n, T top) {
  const hn::ScalableTag<T> dt;
  auto sum = hn::Zero(dt);
  ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
    const auto e = vmath::Exp(d, hn::Sub(memory.Load(d, s + i), hn::Set(d, top)));
    memory.Store(d, e, s + i);
    sum = hn::Add(sum, memory.ZeroRest(d, e));
  });
  return hn::GetLane(hn::SumOfLanes(dt, sum));
}

template <class T>
HWY_INLINE void Accumulate2(T* s, int64_t rows, int64_t cols, int64_t ld, T* m, T* l, T* decay) {
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  for (int64_t r = 0; r < rows; ++r, s += ld) {
    const T top = std::max(m[r], RowMax(s, cols));
    decay[r] = 1;
    if (top == kNone) {  // nothing has weight yet; but NaN is not nothing
      T none = 0;
      for (int64_t i = 0; i < cols; ++i) {
        none = std::isnan(s[i]) ? s[i] : none;
        s[i] = std::isnan(s[i]) ? s[i] : T(0);
      }
      l[r] += none;
      if (std::isnan(none)) m[r] = none;
      continue;
    }
    const T sum = ExpRow(s, cols, top);
    if (m[r] != top) decay[r] = std::exp(m[r] - top);
    l[r] = l[r] * decay[r] + sum;
    m[r] = top;
  }
}

template <class T>
HWY_INLINE void Scale(T* y, int64_t rows, int64_t n, int64_t ld, const T* factor) {
  for (int64_t r = 0; r < rows; ++r, y += ld) {
    const T f = factor[r];
    if (f == 1) continue;
    ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
      memory.Store(d, hn::Mul(memory.Load(d, y + i), hn::Set(d, f)), y + i);
    });
  }
}

template <class T>
HWY_INLINE void Weights(T* s, int64_t rows, int64_t cols, int64_t ld, const T* m, const T* l) {
  for (int64_t r = 0; r < rows; ++r, s += ld) {
    const T top = m[r], share = 1 / l[r];
    ForRow<T>(cols, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
      const auto e = vmath::Exp(d, hn::Sub(memory.Load(d, s + i), hn::Set(d, top)));
      memory.Store(d, hn::Mul(e, hn::Set(d, share)), s + i);
    });
  }
}

template <class T>
HWY_INLINE void Gradient(const T* p, T* dp, int64_t rows, int64_t cols, int64_t ld,
                         const T* delta) {
  for (int64_t r = 0; r < rows; ++r, p += ld, dp += ld) {
    const T mean = delta[r];
    ForRow<T>(cols, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
      const auto weight = memory.Load(d, p + i);
      const auto g = hn::Mul(weight, hn::Sub(memory.Load(d, dp + i), hn::Set(d, mean)));
      memory.Store(d, hn::IfThenZeroElse(hn::Eq(weight, hn::Zero(d)), g), dp + i);
    });
  }
}

#define FOVEA_ATTENTION(suffix, T)                                                              \
  bool Finite##suffix(const T* x, int64_t rows, int64_t cols, int64_t ld) {                     \
    return Finite(x, rows, cols, ld);                                                           \
  }                                                                                             \
  void Accumulate##suffix(T* s, int64_t rows, int64_t cols, int64_t ld, T* m, T* l, T* decay) { \
    Accumulate2(s, rows, cols, ld, m, l, decay);                                                \
  }                                                                                             \
  void Scale##suffix(T* y, int64_t rows, int64_t n, int64_t ld, const T* factor) {              \
    Scale(y, rows, n, ld, factor);                                                              \
  }                                                                                             \
  void Weights##suffix(T* s, int64_t rows, int64_t cols, int64_t ld, const T* m, const T* l) {  \
    Weights(s, rows, cols, ld, m, l);                                                           \
  }                                                                                             \
  void Gradient##suffix(const T* p, T* dp, int64_t rows, int64_t cols, int64_t ld,              \
                        const T* delta) {                                                       \
    Gradient(p, dp, rows, cols, ld, delta);                                                     \
  }
FOVEA_ATTENTION(F32, float)
FOVEA_ATTENTION(F64, double)
#undef FOVEA_ATTENTION

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

#define FOVEA_ATTENTION(suffix, T)                                                                \
  HWY_EXPORT(Finite##suffix);                                                                     \
  HWY_EXPORT(Accumulate##suffix);                                                                 \
  HWY_EXPORT(Scale##suffix);                                                                      \
  HWY_EXPORT(Weights##suffix);                                                                    \
  HWY_EXPORT(Gradient##suffix);                                                                   \
  bool all_finite(const T* x, int64_t rows, int64_t cols, int64_t ld) {                           \
    return HWY_DYNAMIC_DISPATCH(Finite##suffix)(x, rows, cols, ld);                               \
  }                                                                                               \
  void attention_accumulate(T* s, int64_t rows, int64_t cols, int64_t ld, T* m, T* l, T* decay) { \
    HWY_DYNAMIC_DISPATCH(Accumulate##suffix)(s, rows, cols, ld, m, l, decay);                     \
  }                                                                                               \
  void attention_scale(T* y, int64_t rows, int64_t n, int64_t ld, const T* factor) {              \
    HWY_DYNAMIC_DISPATCH(Scale##suffix)(y, rows, n, ld, factor);                                  \
  }                                                                                               \
  void attention_weights(T* s, int64_t rows, int64_t cols, int64_t ld, const T* m, const T* l) {  \
    HWY_DYNAMIC_DISPATCH(Weights##suffix)(s, rows, cols, ld, m, l);                               \
  }                                                                                               \
  void attention_gradient(const T* p, T* dp, int64_t rows, int64_t cols, int64_t ld,              \
                          const T* delta) {                                                       \
    HWY_DYNAMIC_DISPATCH(Gradient##suffix)(p, dp, rows, cols, ld, delta);                         \
  }
FOVEA_ATTENTION(F32, float)
FOVEA_ATTENTION(F64, double)
#undef FOVEA_ATTENTION

}  // namespace fovea::kernels
#endif  // HWY_ONCE
