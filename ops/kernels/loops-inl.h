// Loops that apply a vector function to arrays, tails included, without reading or writing past
// the end. Per-target header: included once for each instruction set (see vmath-inl.h).
#if defined(FOVEA_OPS_KERNELS_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_LOOPS_INL_H_
#undef FOVEA_OPS_KERNELS_LOOPS_INL_H_
#else
#define FOVEA_OPS_KERNELS_LOOPS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "fovea/ops/kernels/load-inl.h"

// Before a loop that the compiler is to vectorise although arrays may be the same: element i of the
// result depends on elements i alone. Clang checks for overlap at run time instead.
#ifndef FOVEA_INDEPENDENT
#if defined(__clang__)
#define FOVEA_INDEPENDENT
#else
#define FOVEA_INDEPENDENT _Pragma("GCC ivdep")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// y[i] = op(d, x[i])
template <class Op, class T>
HWY_INLINE void UnaryLoop(const T* x, T* y, int64_t n, Op op) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(op(d, hn::LoadU(d, x + i)), d, y + i);
  if (i < n) {
    const size_t rest = static_cast<size_t>(n - i);
    StoreN(d, op(d, LoadN(d, x + i, rest)), y + i, rest);
  }
}

// y[i] = op(d, a[i * sa], b[i * sb]) for strides sa, sb of 0 or 1.
template <int64_t sa, int64_t sb, class Op, class T>
HWY_INLINE void BinaryLoop(const T* a, const T* b, T* y, int64_t n, Op op) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (n <= 0) return;
  const auto a0 = hn::Set(d, *a);
  const auto b0 = hn::Set(d, *b);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto va = sa == 0 ? a0 : hn::LoadU(d, a + i * sa);
    const auto vb = sb == 0 ? b0 : hn::LoadU(d, b + i * sb);
    hn::StoreU(op(d, va, vb), d, y + i);
  }
  if (i < n) {
    const size_t rest = static_cast<size_t>(n - i);
    const auto va = sa == 0 ? a0 : LoadN(d, a + i * sa, rest);
    const auto vb = sb == 0 ? b0 : LoadN(d, b + i * sb, rest);
    StoreN(d, op(d, va, vb), y + i, rest);
  }
}

// The same for any strides; the vector function runs on one element at a time in a full vector, so
// that bits do not depend on the strides.
template <class Op, class T>
HWY_INLINE void StridedBinaryLoop(const T* a, int64_t sa, const T* b, int64_t sb, T* y, int64_t n,
                                  Op op) {
  if (sa == 1 && sb == 1) return BinaryLoop<1, 1>(a, b, y, n, op);
  if (sa == 0 && sb == 1) return BinaryLoop<0, 1>(a, b, y, n, op);
  if (sa == 1 && sb == 0) return BinaryLoop<1, 0>(a, b, y, n, op);
  const hn::ScalableTag<T> d;
  for (int64_t i = 0; i < n; ++i) {
    y[i] = hn::GetLane(op(d, hn::Set(d, a[i * sa]), hn::Set(d, b[i * sb])));
  }
}

// y[i] = op(a[i * sa], b[i * sb]) for a scalar op.
template <class Op, class T, class Out>
HWY_INLINE void PlainBinaryLoop(const T* a, int64_t sa, const T* b, int64_t sb, Out* y, int64_t n,
                                Op op) {
  if (n <= 0) return;
  if (sa == 1 && sb == 1) {
    FOVEA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = op(a[i], b[i]);
  } else if (sa == 1 && sb == 0) {
    const T b0 = *b;
    FOVEA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = op(a[i], b0);
  } else if (sa == 0 && sb == 1) {
    const T a0 = *a;
    FOVEA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = op(a0, b[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = op(a[i * sa], b[i * sb]);
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
