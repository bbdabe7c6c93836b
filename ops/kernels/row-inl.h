// What the row kernels share: the maximum of a row, and a loop over whole vectors and the rest.
// Per-target header: included once for each instruction set.
#if defined(FOVEA_OPS_KERNELS_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_ROW_INL_H_
#undef FOVEA_OPS_KERNELS_ROW_INL_H_
#else
#define FOVEA_OPS_KERNELS_ROW_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "fovea/ops/kernels/accumulate-inl.h"
#include "fovea/ops/kernels/load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// body(d, i, memory) for i = 0, lanes, 2 lanes, ... and once more, masked, for what is left.
// kStream: what the body gives to memory.StoreOut bypasses the cache; needs CanStream().
template <class T, bool kStream = false, class Body>
HWY_INLINE void ForRow(int64_t n, const Body& body) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const std::conditional_t<kStream, Streaming, Whole> memory;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(d, i, memory);
  if constexpr (!kStream) {
    if (i < n) body(d, i, Partial{static_cast<size_t>(n - i)});
  }
}

// Whether rows of n elements from `out` on consist of whole, aligned vectors.
template <class T>
HWY_INLINE bool CanStream(const T* out, int64_t n) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const uintptr_t bytes = static_cast<uintptr_t>(lanes) * sizeof(T);
  return n % lanes == 0 && reinterpret_cast<uintptr_t>(out) % bytes == 0;
}

// The largest number in the row. A NaN may or may not be seen: what subtracts the result from the
// row and sums gets NaN either way.
template <class T>
HWY_INLINE T RowMax(const T* x, int64_t n) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  auto a0 = hn::Set(d, kNone), a1 = a0, a2 = a0, a3 = a0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a0 = hn::Max(a0, hn::LoadU(d, x + i));
    a1 = hn::Max(a1, hn::LoadU(d, x + i + lanes));
    a2 = hn::Max(a2, hn::LoadU(d, x + i + 2 * lanes));
    a3 = hn::Max(a3, hn::LoadU(d, x + i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) a0 = hn::Max(a0, hn::LoadU(d, x + i));
  if (i < n) a1 = hn::Max(a1, LoadN(d, x + i, static_cast<size_t>(n - i), kNone));
  return ReduceMax(d, hn::Max(hn::Max(a0, a1), hn::Max(a2, a3)));
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
