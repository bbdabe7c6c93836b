// Conversion between dtypes, filling and strided copies.
#include "fovea/ops/kernels/convert.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/convert.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/loops-inl.h"

// All ordered pairs of dtypes.
#undef FOVEA_PAIRS
#define FOVEA_PAIRS_FROM(X, from, From) \
  X(from, From, f32, float)             \
  X(from, From, f64, double)            \
  X(from, From, i64, int64_t)           \
  X(from, From, u8, uint8_t)
#define FOVEA_PAIRS(X)              \
  FOVEA_PAIRS_FROM(X, f32, float)   \
  FOVEA_PAIRS_FROM(X, f64, double)  \
  FOVEA_PAIRS_FROM(X, i64, int64_t) \
  FOVEA_PAIRS_FROM(X, u8, uint8_t)

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

template <class To, class From>
HWY_INLINE To ConvertOne(From x) {
  if constexpr (std::is_same_v<To, uint8_t>) {
    return x != 0;
  } else if constexpr (std::is_same_v<From, uint8_t>) {
    return static_cast<To>(std::min<int>(x, 1));  // `x != 0` would become a branch
  } else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, int64_t>) {
    // The cast is undefined outside [-2^63, 2^63); the comparison is false for NaN.
    const bool fits = x >= From(-0x1p63) && x < From(0x1p63);
    return fits ? static_cast<int64_t>(x) : std::numeric_limits<int64_t>::min();
  } else {
    return static_cast<To>(x);
  }
}

#define FOVEA_CONVERT(from, From, to, To)                        \
  void from##_to_##to(const From* x, To* y, int64_t n) {         \
    FOVEA_INDEPENDENT                                            \
    for (int64_t i = 0; i < n; ++i) y[i] = ConvertOne<To>(x[i]); \
  }
FOVEA_PAIRS(FOVEA_CONVERT)
#undef FOVEA_CONVERT

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

#define FOVEA_CONVERT(from, From, to, To)              \
  HWY_EXPORT(from##_to_##to);                          \
  template <>                                          \
  void convert(const From* x, To* y, std::int64_t n) { \
    HWY_DYNAMIC_DISPATCH(from##_to_##to)(x, y, n);     \
  }
FOVEA_PAIRS(FOVEA_CONVERT)
#undef FOVEA_CONVERT

template <class T>
void fill(T* y, T value, std::int64_t n) {
  if (n > 0) std::fill_n(y, n, value);
}

template <class T>
void strided_copy(const T* src, std::int64_t src_stride, T* dst, std::int64_t dst_stride,
                  std::int64_t n) {
  if (n <= 0) return;
  if (dst_stride == 1 && src_stride == 1) {
    std::memcpy(dst, src, sizeof(T) * static_cast<std::size_t>(n));
  } else if (dst_stride == 1 && src_stride == 0) {
    fill(dst, *src, n);
  } else if (dst_stride == 1) {
    for (std::int64_t i = 0; i < n; ++i) dst[i] = src[i * src_stride];
  } else {
    for (std::int64_t i = 0; i < n; ++i) dst[i * dst_stride] = src[i * src_stride];
  }
}

#define FOVEA_INSTANTIATE(T)               \
  template void fill(T*, T, std::int64_t); \
  template void strided_copy(const T*, std::int64_t, T*, std::int64_t, std::int64_t);
FOVEA_INSTANTIATE(float)
FOVEA_INSTANTIATE(double)
FOVEA_INSTANTIATE(std::int64_t)
FOVEA_INSTANTIATE(std::uint8_t)
#undef FOVEA_INSTANTIATE

}  // namespace fovea::kernels
#endif  // HWY_ONCE
