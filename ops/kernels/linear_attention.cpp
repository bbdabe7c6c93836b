#include "fovea/ops/kernels/linear_attention.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/linear_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/row-inl.h"
#include "fovea/ops/kernels/vmath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void AddToState(const float* part, double* sum, float* now, int64_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto s = hn::Add(hn::LoadU(d, sum + i), hn::PromoteTo(d, hn::LoadU(narrow, part + i)));
    hn::StoreU(s, d, sum + i);
    hn::StoreU(hn::DemoteTo(narrow, s), narrow, now + i);
  }
  for (; i < n; ++i) {
    sum[i] += static_cast<double>(part[i]);
    now[i] = static_cast<float>(sum[i]);
  }
}

HWY_INLINE void AddToState(const double* part, double* sum, double* now, int64_t n) {
  ForRow<double>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
    const auto s = hn::Add(memory.Load(d, sum + i), memory.Load(d, part + i));
    memory.Store(d, s, sum + i);
    memory.Store(d, s, now + i);
  });
}

template <class T>
HWY_INLINE void QuotientGradient(const T* gy, int64_t ldg, const T* y, const T* f, T* out,
                                 int64_t rows, int64_t n) {
  const hn::ScalableTag<T> dt;
  for (int64_t r = 0; r < rows; ++r, gy += ldg, y += n, out += n + 1) {
    if (f[r] == 0) {
      std::fill(out, out + n + 1, T(0));
      continue;
    }
    auto sum = hn::Zero(dt);
    ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
      const auto g = memory.Load(d, gy + i);
      memory.Store(d, hn::Mul(g, hn::Set(d, f[r])), out + i);
      sum = hn::MulAdd(g, memory.Load(d, y + i), sum);
    });
    out[n] = -f[r] * hn::GetLane(hn::SumOfLanes(dt, sum));
  }
}

// exp(min(x, 0)) + max(x, 0); comparisons so that NaN stays.
template <class T>
HWY_INLINE void EluPlusOne(const T* x, T* y, int64_t n) {
  ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
    const auto v = memory.Load(d, x + i);
    const auto above = hn::Gt(v, hn::Zero(d));
    const auto e = vmath::Exp(d, hn::IfThenZeroElse(above, v));
    memory.Store(d, hn::Add(e, hn::IfThenElseZero(above, v)), y + i);
  });
}

template <class T>
HWY_INLINE void EluPlusOneBackward(const T* y, const T* gy, T* gx, int64_t n) {
  ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
    const auto v = memory.Load(d, y + i), one = hn::Set(d, T(1));
    const auto slope = hn::IfThenElse(hn::Gt(v, one), one, v);
    memory.Store(d, hn::Mul(memory.Load(d, gy + i), slope), gx + i);
  });
}

#define FOVEA_LINEAR_ATTENTION(suffix, T)                                                 \
  void AddToState##suffix(const T* part, double* sum, T* now, int64_t n) {                \
    AddToState(part, sum, now, n);                                                        \
  }                                                                                       \
  void QuotientGradient##suffix(const T* gy, int64_t ldg, const T* y, const T* f, T* out, \
                                int64_t rows, int64_t n) {                                \
    QuotientGradient(gy, ldg, y, f, out, rows, n);                                        \
  }                                                                                       \
  void EluPlusOne##suffix(const T* x, T* y, int64_t n) { EluPlusOne(x, y, n); }           \
  void EluPlusOneBackward##suffix(const T* y, const T* gy, T* gx, int64_t n) {            \
    EluPlusOneBackward(y, gy, gx, n);                                                     \
  }
FOVEA_LINEAR_ATTENTION(F32, float)
FOVEA_LINEAR_ATTENTION(F64, double)
#undef FOVEA_LINEAR_ATTENTION

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

#define FOVEA_LINEAR_ATTENTION(suffix, T)                                                        \
  HWY_EXPORT(AddToState##suffix);                                                                \
  HWY_EXPORT(QuotientGradient##suffix);                                                          \
  HWY_EXPORT(EluPlusOne##suffix);                                                                \
  HWY_EXPORT(EluPlusOneBackward##suffix);                                                        \
  void add_to_state(const T* part, double* sum, T* now, int64_t n) {                             \
    HWY_DYNAMIC_DISPATCH(AddToState##suffix)(part, sum, now, n);                                 \
  }                                                                                              \
  void quotient_gradient(const T* gy, int64_t ldg, const T* y, const T* f, T* out, int64_t rows, \
                         int64_t n) {                                                            \
    HWY_DYNAMIC_DISPATCH(QuotientGradient##suffix)(gy, ldg, y, f, out, rows, n);                 \
  }                                                                                              \
  void elu_plus_one(const T* x, T* y, int64_t n) {                                               \
    HWY_DYNAMIC_DISPATCH(EluPlusOne##suffix)(x, y, n);                                           \
  }                                                                                              \
  void elu_plus_one_backward(const T* y, const T* gy, T* gx, int64_t n) {                        \
    HWY_DYNAMIC_DISPATCH(EluPlusOneBackward##suffix)(y, gy, gx, n);                              \
  }
FOVEA_LINEAR_ATTENTION(F32, float)
FOVEA_LINEAR_ATTENTION(F64, double)
#undef FOVEA_LINEAR_ATTENTION

}  // namespace fovea::kernels
#endif  // HWY_ONCE
