// Rotation of pairs.
#include "fovea/ops/kernels/rope.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/rope.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// Pair i of a row lies at 2 i and 2 i + 1, or at i and pairs + i.
template <bool kNeighbours, class T>
HWY_INLINE void Rope(const RopeRows<T>& in, T* y, int64_t rows, int64_t pairs) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t r = 0; r < rows; ++r, y += 2 * pairs) {
    const T* x = in.x + r * in.step;
    const T* cos = in.cos + r * in.table_step;
    const T* sin = in.sin + r * in.table_step;
    int64_t i = 0;
    for (; i + lanes <= pairs; i += lanes) {
      hn::Vec<decltype(d)> a, b;
      if constexpr (kNeighbours) {
        hn::LoadInterleaved2(d, x + 2 * i, a, b);
      } else {
        a = hn::LoadU(d, x + i);
        b = hn::LoadU(d, x + pairs + i);
      }
      const auto c = hn::LoadU(d, cos + i), s = hn::LoadU(d, sin + i);
      const auto turned_a = hn::NegMulAdd(b, s, hn::Mul(a, c));
      const auto turned_b = hn::MulAdd(b, c, hn::Mul(a, s));
      if constexpr (kNeighbours) {
        hn::StoreInterleaved2(turned_a, turned_b, d, y + 2 * i);
      } else {
        hn::StoreU(turned_a, d, y + i);
        hn::StoreU(turned_b, d, y + pairs + i);
      }
    }
    for (; i < pairs; ++i) {
      const int64_t first = kNeighbours ? 2 * i : i, second = kNeighbours ? first + 1 : pairs + i;
      const T a = x[first], b = x[second];
      y[first] = a * cos[i] - b * sin[i];
      y[second] = a * sin[i] + b * cos[i];
    }
  }
}

#define FOVEA_ROPE(suffix, T)                                                                \
  void rope_interleaved_##suffix(const RopeRows<T>& in, T* y, int64_t rows, int64_t pairs) { \
    Rope<true>(in, y, rows, pairs);                                                          \
  }                                                                                          \
  void rope_half_##suffix(const RopeRows<T>& in, T* y, int64_t rows, int64_t pairs) {        \
    Rope<false>(in, y, rows, pairs);                                                         \
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
