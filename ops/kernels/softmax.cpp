// softmax along the last axis.              x, y, gy, gx: (rows, n)
// forward   y_i = exp(x_i - max x) / sum_j exp(x_j - max x)     three passes, the row in cache
// backward  gx  = y * (gy - <y, gy>)                            two passes
#include "fovea/ops/kernels/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/row-inl.h"
#include "fovea/ops/kernels/vmath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

// Writes exp(x - shift) and returns the sum of what it wrote.
template <class T>
struct StoreExpTerm {
  const T* x;
  T* y;
  T shift;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    const auto e = vmath::Exp(d, hn::Sub(memory.Load(d, x + i), hn::Set(d, shift)));
    memory.Store(d, e, y + i);
    return hn::Add(acc, memory.ZeroRest(d, e));
  }
};

template <class T>
struct ProductTerm {
  const T* x;
  const T* y;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    return hn::MulAdd(memory.Load(d, x + i), memory.Load(d, y + i), acc);
  }
};

template <class T>
HWY_INLINE void SoftmaxRows(const T* x, T* y, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const double total = Accumulate<T, 4>(n, StoreExpTerm<T>{x, y, RowMax(x, n)});
    const T scale = static_cast<T>(1 / total);
    ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
      memory.Store(d, hn::Mul(memory.Load(d, y + i), hn::Set(d, scale)), y + i);
    });
  }
}

// The exponentials wait in a buffer, so that y is touched once, past the cache.
inline constexpr int64_t kStreamedRow = 16384;  // bytes: half of a first-level cache

template <class T>
HWY_INLINE void SoftmaxStreamRows(const T* x, T* y, int64_t rows, int64_t n) {
  HWY_ALIGN T buffer[kStreamedRow / sizeof(T)];
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const double total = Accumulate<T, 4>(n, StoreExpTerm<T>{x, buffer, RowMax(x, n)});
    const T scale = static_cast<T>(1 / total);
    ForRow<T, true>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
      memory.StoreOut(d, hn::Mul(memory.Load(d, buffer + i), hn::Set(d, scale)), y + i);
    });
  }
}

template <class T>
HWY_INLINE void Softmax(const T* x, T* y, int64_t rows, int64_t n, bool stream) {
  if (stream && CanStream(y, n) && n * static_cast<int64_t>(sizeof(T)) <= kStreamedRow) {
    SoftmaxStreamRows(x, y, rows, n);
    hwy::FlushStream();
  } else {
    SoftmaxRows(x, y, rows, n);
  }
}

template <bool kStream, class T>
HWY_INLINE void SoftmaxBackwardRows(const T* y, const T* gy, T* gx, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, y += n, gy += n, gx += n) {
    const T inner = static_cast<T>(Accumulate<T>(n, ProductTerm<T>{y, gy}));
    ForRow<T, kStream>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
      const auto away = hn::Sub(memory.Load(d, gy + i), hn::Set(d, inner));
      memory.StoreOut(d, hn::Mul(memory.Load(d, y + i), away), gx + i);
    });
  }
}

template <class T>
HWY_INLINE void SoftmaxBackward(const T* y, const T* gy, T* gx, int64_t rows, int64_t n,
                                bool stream) {
  if (stream && CanStream(gx, n)) {
    SoftmaxBackwardRows<true>(y, gy, gx, rows, n);
    hwy::FlushStream();
  } else {
    SoftmaxBackwardRows<false>(y, gy, gx, rows, n);
  }
}

void SoftmaxF32(const float* x, float* y, int64_t rows, int64_t n, bool stream) {
  Softmax(x, y, rows, n, stream);
}
void SoftmaxF64(const double* x, double* y, int64_t rows, int64_t n, bool stream) {
  Softmax(x, y, rows, n, stream);
}
void SoftmaxBackwardF32(const float* y, const float* gy, float* gx, int64_t rows, int64_t n,
                        bool stream) {
  SoftmaxBackward(y, gy, gx, rows, n, stream);
}
void SoftmaxBackwardF64(const double* y, const double* gy, double* gx, int64_t rows, int64_t n,
                        bool stream) {
  SoftmaxBackward(y, gy, gx, rows, n, stream);
}

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(SoftmaxF32);
HWY_EXPORT(SoftmaxF64);
HWY_EXPORT(SoftmaxBackwardF32);
HWY_EXPORT(SoftmaxBackwardF64);

void softmax_rows(const float* x, float* y, int64_t rows, int64_t n, bool stream) {
  HWY_DYNAMIC_DISPATCH(SoftmaxF32)(x, y, rows, n, stream);
}
void softmax_rows(const double* x, double* y, int64_t rows, int64_t n, bool stream) {
  HWY_DYNAMIC_DISPATCH(SoftmaxF64)(x, y, rows, n, stream);
}
void softmax_backward_rows(const float* y, const float* gy, float* gx, int64_t rows, int64_t n,
                           bool stream) {
  HWY_DYNAMIC_DISPATCH(SoftmaxBackwardF32)(y, gy, gx, rows, n, stream);
}
void softmax_backward_rows(const double* y, const double* gy, double* gx, int64_t rows, int64_t n,
                           bool stream) {
  HWY_DYNAMIC_DISPATCH(SoftmaxBackwardF64)(y, gy, gx, rows, n, stream);
}

}  // namespace fovea::kernels
#endif  // HWY_ONCE
