// log-softmax and log-sum-exp along the last axis.      x, y, gy, gx: (rows, n); out, gout: (rows)
// log_softmax  y   = x - max x - log s,  s = sum_j exp(x_j - max x);   gx = gy - exp(y) sum gy
// logsumexp    out = max x + log s;                               gx = gout exp(x - max x) / s
#include <cmath>

#include "fovea/ops/kernels/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/log_softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/row-inl.h"
#include "fovea/ops/kernels/vmath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct ShiftedExpTerm {
  const T* x;
  T shift;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    const auto e = vmath::Exp(d, hn::Sub(memory.Load(d, x + i), hn::Set(d, shift)));
    return hn::Add(acc, memory.ZeroRest(d, e));
  }
};

template <class T>
struct PlainTerm {
  const T* x;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    return hn::Add(acc, memory.Load(d, x + i));
  }
};

// v, and 0 in the lanes where x = -inf.
template <class D, class V>
HWY_INLINE V ZeroAtMinusInfinity(D d, V x, V v) {
  const auto infinity = vmath::Infinity(d);
  return hn::IfThenZeroElse(hn::Eq(x, hn::Neg(infinity)), v);
}

template <bool kStream, class T>
HWY_INLINE void LogSoftmaxRows(const T* x, T* y, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T top = RowMax(x, n);
    const T rest = static_cast<T>(std::log(Accumulate<T, 4>(n, ShiftedExpTerm<T>{x, top})));
    ForRow<T, kStream>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
      const auto shifted = hn::Sub(memory.Load(d, x + i), hn::Set(d, top));
      memory.StoreOut(d, hn::Sub(shifted, hn::Set(d, rest)), y + i);
    });
  }
}

template <bool kStream, class T>
HWY_INLINE void LogSoftmaxBackwardRows(const T* y, const T* gy, T* gx, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, y += n, gy += n, gx += n) {
    const T total = static_cast<T>(Accumulate<T>(n, PlainTerm<T>{gy}));
    ForRow<T, kStream>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
      const auto v = memory.Load(d, y + i);
      const auto g = hn::NegMulAdd(vmath::Exp(d, v), hn::Set(d, total), memory.Load(d, gy + i));
      memory.StoreOut(d, ZeroAtMinusInfinity(d, v, g), gx + i);
    });
  }
}

template <class T>
HWY_INLINE void LogSoftmax(const T* x, T* y, int64_t rows, int64_t n, bool stream) {
  if (stream && CanStream(y, n)) {
    LogSoftmaxRows<true>(x, y, rows, n);
    hwy::FlushStream();
  } else {
    LogSoftmaxRows<false>(x, y, rows, n);
  }
}

template <class T>
HWY_INLINE void LogSoftmaxBackward(const T* y, const T* gy, T* gx, int64_t rows, int64_t n,
                                   bool stream) {
  if (stream && CanStream(gx, n)) {
    LogSoftmaxBackwardRows<true>(y, gy, gx, rows, n);
    hwy::FlushStream();
  } else {
    LogSoftmaxBackwardRows<false>(y, gy, gx, rows, n);
  }
}

// An infinite maximum is not subtracted, as inf - inf would be NaN: every exp(x) is then 0 or inf.
template <class T>
HWY_INLINE void LogSumExpRows(const T* x, T* out, T* top, T* total, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, x += n) {
    const T high = RowMax(x, n);
    const T shift = std::isinf(high) ? T(0) : high;
    const double sum = Accumulate<T, 4>(n, ShiftedExpTerm<T>{x, shift});
    out[r] = static_cast<T>(static_cast<double>(shift) + std::log(sum));
    top[r] = shift;
    total[r] = static_cast<T>(sum);
  }
}

template <class T>
HWY_INLINE void LogSumExpBackwardRows(const T* x, const T* top, const T* total, const T* gout,
                                      T* gx, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, x += n, gx += n) {
    const T shift = top[r], g = gout[r] / total[r];
    ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
      const auto v = memory.Load(d, x + i);
      const auto p = vmath::Exp(d, hn::Sub(v, hn::Set(d, shift)));
      memory.Store(d, ZeroAtMinusInfinity(d, v, hn::Mul(p, hn::Set(d, g))), gx + i);
    });
  }
}

void LogSoftmaxF32(const float* x, float* y, int64_t rows, int64_t n, bool stream) {
  LogSoftmax(x, y, rows, n, stream);
}
void LogSoftmaxF64(const double* x, double* y, int64_t rows, int64_t n, bool stream) {
  LogSoftmax(x, y, rows, n, stream);
}
void LogSoftmaxBackwardF32(const float* y, const float* gy, float* gx, int64_t rows, int64_t n,
                           bool stream) {
  LogSoftmaxBackward(y, gy, gx, rows, n, stream);
}
void LogSoftmaxBackwardF64(const double* y, const double* gy, double* gx, int64_t rows, int64_t n,
                           bool stream) {
  LogSoftmaxBackward(y, gy, gx, rows, n, stream);
}
void LogSumExpF32(const float* x, float* out, float* top, float* total, int64_t rows, int64_t n) {
  LogSumExpRows(x, out, top, total, rows, n);
}
void LogSumExpF64(const double* x, double* out, double* top, double* total, int64_t rows,
                  int64_t n) {
  LogSumExpRows(x, out, top, total, rows, n);
}
void LogSumExpBackwardF32(const float* x, const float* top, const float* total, const float* gout,
                          float* gx, int64_t rows, int64_t n) {
  LogSumExpBackwardRows(x, top, total, gout, gx, rows, n);
}
void LogSumExpBackwardF64(const double* x, const double* top, const double* total,
                          const double* gout, double* gx, int64_t rows, int64_t n) {
  LogSumExpBackwardRows(x, top, total, gout, gx, rows, n);
}

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(LogSoftmaxF32);
HWY_EXPORT(LogSoftmaxF64);
HWY_EXPORT(LogSoftmaxBackwardF32);
HWY_EXPORT(LogSoftmaxBackwardF64);
HWY_EXPORT(LogSumExpF32);
HWY_EXPORT(LogSumExpF64);
HWY_EXPORT(LogSumExpBackwardF32);
HWY_EXPORT(LogSumExpBackwardF64);

void log_softmax_rows(const float* x, float* y, int64_t rows, int64_t n, bool stream) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxF32)(x, y, rows, n, stream);
}
void log_softmax_rows(const double* x, double* y, int64_t rows, int64_t n, bool stream) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxF64)(x, y, rows, n, stream);
}
void log_softmax_backward_rows(const float* y, const float* gy, float* gx, int64_t rows, int64_t n,
                               bool stream) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxBackwardF32)(y, gy, gx, rows, n, stream);
}
void log_softmax_backward_rows(const double* y, const double* gy, double* gx, int64_t rows,
                               int64_t n, bool stream) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxBackwardF64)(y, gy, gx, rows, n, stream);
}
void logsumexp_rows(const float* x, float* out, float* top, float* total, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(LogSumExpF32)(x, out, top, total, rows, n);
}
void logsumexp_rows(const double* x, double* out, double* top, double* total, int64_t rows,
                    int64_t n) {
  HWY_DYNAMIC_DISPATCH(LogSumExpF64)(x, out, top, total, rows, n);
}
void logsumexp_backward_rows(const float* x, const float* top, const float* total,
                             const float* gout, float* gx, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(LogSumExpBackwardF32)(x, top, total, gout, gx, rows, n);
}
void logsumexp_backward_rows(const double* x, const double* top, const double* total,
                             const double* gout, double* gx, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(LogSumExpBackwardF64)(x, top, total, gout, gx, rows, n);
}

}  // namespace fovea::kernels
#endif  // HWY_ONCE
