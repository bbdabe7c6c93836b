// Transposing copy of a matrix: vector blocks of 8 x 8 for float, small tiles for other types.
#include <algorithm>
#include <cstdint>

#include "fovea/ops/kernels/convert.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/transpose.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// Any block, element by element.
template <class T>
HWY_INLINE void TransposePlain(const T* src, int64_t ss, T* dst, int64_t ds, int64_t rows,
                               int64_t cols) {
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r) dst[c * ds + r] = src[r * ss + c];
  }
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// 8 x 8 floats in 24 shuffles: interleave rows i and i + 2, then pairs of those, inside the halves
// of 4 lanes; last swap halves.
HWY_INLINE void Transpose8x8(const float* src, int64_t ss, float* dst, int64_t ds) {
  const hn::CappedTag<float, 8> d;
  const hn::Repartition<double, decltype(d)> dd;
  const auto row = [&](int64_t i) HWY_ATTR { return hn::LoadU(d, src + i * ss); };
  const auto store = [&](int64_t i, auto v) HWY_ATTR { hn::StoreU(v, d, dst + i * ds); };
  const auto pair = [&](auto a, auto b, bool upper) HWY_ATTR {
    const auto da = hn::BitCast(dd, a), db = hn::BitCast(dd, b);
    return hn::BitCast(d,
                       upper ? hn::InterleaveUpper(dd, da, db) : hn::InterleaveLower(dd, da, db));
  };
  // Four rows to columns {0, 4}, {1, 5}, {2, 6}, {3, 7}, one of each pair in either half.
  const auto four = [&](int64_t i, auto* out) HWY_ATTR {
    const auto r0 = row(i), r1 = row(i + 1), r2 = row(i + 2), r3 = row(i + 3);
    const auto low01 = hn::InterleaveLower(d, r0, r1), low23 = hn::InterleaveLower(d, r2, r3);
    const auto up01 = hn::InterleaveUpper(d, r0, r1), up23 = hn::InterleaveUpper(d, r2, r3);
    out[0] = pair(low01, low23, false);
    out[1] = pair(low01, low23, true);
    out[2] = pair(up01, up23, false);
    out[3] = pair(up01, up23, true);
  };
  hn::Vec<decltype(d)> top[4], bottom[4];
  four(0, top);
  four(4, bottom);
  for (int64_t k = 0; k < 4; ++k) {
    store(k, hn::ConcatLowerLower(d, bottom[k], top[k]));
    store(k + 4, hn::ConcatUpperUpper(d, bottom[k], top[k]));
  }
}

// A tile that fits the first-level cache, by blocks; what is left at its edges one by one.
HWY_INLINE void TransposeTile(const float* src, int64_t ss, float* dst, int64_t ds, int64_t rows,
                              int64_t cols) {
  const int64_t rows8 = rows - rows % 8, cols8 = cols - cols % 8;
  for (int64_t r = 0; r < rows8; r += 8) {
    for (int64_t c = 0; c < cols8; c += 8) {
      Transpose8x8(src + r * ss + c, ss, dst + c * ds + r, ds);
    }
  }
  TransposePlain(src + cols8, ss, dst + cols8 * ds, ds, rows8, cols - cols8);
  TransposePlain(src + rows8 * ss, ss, dst + rows8, ds, rows - rows8, cols);
}
#endif

template <class T>
HWY_INLINE void TransposeTile(const T* src, int64_t ss, T* dst, int64_t ds, int64_t rows,
                              int64_t cols) {
  TransposePlain(src, ss, dst, ds, rows, cols);
}

template <class T>
HWY_INLINE void TransposeAll(const T* src, int64_t ss, T* dst, int64_t ds, int64_t rows,
                             int64_t cols) {
  constexpr int64_t kTile = 32;
  for (int64_t c = 0; c < cols; c += kTile) {
    for (int64_t r = 0; r < rows; r += kTile) {
      TransposeTile(src + r * ss + c, ss, dst + c * ds + r, ds, std::min(kTile, rows - r),
                    std::min(kTile, cols - c));
    }
  }
}

#define FOVEA_TRANSPOSE(suffix, T)                                                    \
  void transpose_##suffix(const T* src, int64_t ss, T* dst, int64_t ds, int64_t rows, \
                          int64_t cols) {                                             \
    TransposeAll(src, ss, dst, ds, rows, cols);                                       \
  }
FOVEA_TRANSPOSE(f32, float)
FOVEA_TRANSPOSE(f64, double)
FOVEA_TRANSPOSE(i64, int64_t)
FOVEA_TRANSPOSE(u8, uint8_t)
#undef FOVEA_TRANSPOSE

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

#define FOVEA_TRANSPOSE(suffix, T)                                                          \
  HWY_EXPORT(transpose_##suffix);                                                           \
  template <>                                                                               \
  void transpose_copy(const T* src, std::int64_t src_row_stride, T* dst,                    \
                      std::int64_t dst_row_stride, std::int64_t rows, std::int64_t cols) {  \
    HWY_DYNAMIC_DISPATCH(transpose_##suffix)                                                \
    (src, src_row_stride, dst, dst_row_stride, rows, cols);                                 \
  }                                                                                         \
  template <>                                                                               \
  void transpose_copy(const T* src, std::int64_t src_row_stride, T* dst, std::int64_t rows, \
                      std::int64_t cols) {                                                  \
    transpose_copy(src, src_row_stride, dst, rows, rows, cols);                             \
  }
FOVEA_TRANSPOSE(f32, float)
FOVEA_TRANSPOSE(f64, double)
FOVEA_TRANSPOSE(i64, std::int64_t)
FOVEA_TRANSPOSE(u8, std::uint8_t)
#undef FOVEA_TRANSPOSE

}  // namespace fovea::kernels
#endif  // HWY_ONCE
