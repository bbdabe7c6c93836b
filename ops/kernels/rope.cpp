// Rotation of pairs.
#include "fovea/ops/kernels/rope.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/rope.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

template <class T>
HWY_INLINE void RopeInterleaved(const RopeRows<T>& in, T* y, int64_t rows, int64_t pairs) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t r = 0; r < rows; ++r, y += 2 * pairs) {
    const T* x = in.x + r * in.step;
    const T* cos = in.cos + r * in.table_step;
    const T* sin = in.sin + r * in.table_step;
    int64_t i = 0;
    for (; i + lanes <= pairs; i += lanes) {
      hn::Vec<decltype(d)> a, b;
      hn::LoadInterleaved2(d, x + 2 * i, a, b);
      const auto c = hn::LoadU(d, cos + i), s = hn::LoadU(d, sin + i);
      hn::StoreInterleaved2(hn::NegMulAdd(b, s, hn::Mul(a, c)), hn::MulAdd(b, c, hn::Mul(a, s)), d,
                            y + 2 * i);
    }
    for (; i < pairs; ++i) {
      const T a = x[2 * i], b = x[2 * i + 1];
      y[2 * i] = a * cos[i] - b * sin[i];
      y[2 * i + 1] = a * sin[i] + b * cos[i];
    }
  }
}

template <class T>
HWY_INLINE void RopeHalf(const RopeRows<T>& in, T* y, int64_t rows, int64_t pairs) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t r = 0; r < rows; ++r, y += 2 * pairs) {
    const T* x = in.x + r * in.step;
    const T* cos = in.cos + r * in.table_step;
    const T* sin = in.sin + r * in.table_step;
    int64_t i = 0;
    for (; i + lanes <= pairs; i += lanes) {
      const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + pairs + i);
      const auto c = hn::LoadU(d, cos + i), s = hn::LoadU(d, sin + i);
      hn::StoreU(hn::NegMulAdd(b, s, hn::Mul(a, c)), d, y + i);
      hn::StoreU(hn::MulAdd(b, c, hn::Mul(a, s)), d, y + pairs + i);
    }
    for (; i < pairs; ++i) {
      const T a = x[i], b = x[pairs + i];
      y[i] = a * cos[i] - b * sin[i];
      y[pairs + i] = a * sin[i] + b * cos[i];
    }
  }
}

#define FOVEA_ROPE(suffix, T)                                                                \
  void rope_interleaved_##suffix(const RopeRows<T>& in, T* y, int64_t rows, int64_t pairs) { \
    RopeInterleaved(in, y, rows, pairs);                                                     \
  }                                                                                          \
  void rope_half_##suffix(const RopeRows<T>& in, T* y, int64_t rows, int64_t pairs) {        \
    RopeHalf(in, y, rows, pairs);                                                            \
  }
FOVEA_ROPE(f32, float)
FOVEA_ROPE(f64, double)
#undef FOVEA_ROPE

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

#define FOVEA_ROPE(suffix, T)                                                                 \
  HWY_EXPORT(rope_interleaved_##suffix);                                                      \
  HWY_EXPORT(rope_half_##suffix);                                                             \
  void rope_interleaved(const RopeRows<T>& in, T* y, std::int64_t rows, std::int64_t pairs) { \
    HWY_DYNAMIC_DISPATCH(rope_interleaved_##suffix)(in, y, rows, pairs);                      \
  }                                                                                           \
  void rope_half(const RopeRows<T>& in, T* y, std::int64_t rows, std::int64_t pairs) {        \
    HWY_DYNAMIC_DISPATCH(rope_half_##suffix)(in, y, rows, pairs);                             \
  }
FOVEA_ROPE(f32, float)
FOVEA_ROPE(f64, double)
#undef FOVEA_ROPE

}  // namespace fovea::kernels
#endif  // HWY_ONCE
