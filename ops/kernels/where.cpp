// Choice between two arrays by a condition.
#include <cstdint>

#include "fovea/ops/kernels/binary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/where.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
// The lanes of d where c[i], c[i + 1], ... are true.
template <class D>
HWY_INLINE auto Chosen(D d, const uint8_t* c) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 1) {
    return hn::Ne(hn::LoadU(d, c), hn::Zero(d));
  } else {
    const hn::Rebind<uint8_t, D> bytes;
    const hn::Rebind<uint32_t, D> words;
    const auto wide = hn::PromoteTo(words, hn::LoadU(bytes, c));
    if constexpr (sizeof(T) == 4) {
      return hn::RebindMask(d, hn::Ne(wide, hn::Zero(words)));
    } else {
      const hn::Rebind<uint64_t, D> longs;
      return hn::RebindMask(d, hn::Ne(hn::PromoteTo(longs, wide), hn::Zero(longs)));
    }
  }
}

// Contiguous arrays, of which a and b may be single values.
template <bool kOneA, bool kOneB, class T>
HWY_INLINE void WhereLoop(const uint8_t* c, const T* a, const T* b, T* y, int64_t n) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto a0 = hn::Set(d, *a), b0 = hn::Set(d, *b);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto from_a = kOneA ? a0 : hn::LoadU(d, a + (kOneA ? 0 : i));
    const auto from_b = kOneB ? b0 : hn::LoadU(d, b + (kOneB ? 0 : i));
    hn::StoreU(hn::IfThenElse(Chosen(d, c + i), from_a, from_b), d, y + i);
  }
  for (; i < n; ++i) y[i] = c[i] != 0 ? a[kOneA ? 0 : i] : b[kOneB ? 0 : i];
}

template <class T>
HWY_INLINE void Where(const uint8_t* c, int64_t sc, const T* a, int64_t sa, const T* b, int64_t sb,
                      T* y, int64_t n) {
  if (n <= 0) return;
  if (sc == 1 && sa == 1 && sb == 1) return WhereLoop<false, false>(c, a, b, y, n);
  if (sc == 1 && sa == 0 && sb == 1) return WhereLoop<true, false>(c, a, b, y, n);
  if (sc == 1 && sa == 1 && sb == 0) return WhereLoop<false, true>(c, a, b, y, n);
  if (sc == 1 && sa == 0 && sb == 0) return WhereLoop<true, true>(c, a, b, y, n);
  if (sc == 0) {
    const T* from = *c != 0 ? a : b;
    const int64_t step = *c != 0 ? sa : sb;
    for (int64_t i = 0; i < n; ++i) y[i] = from[i * step];
    return;
  }
  for (int64_t i = 0; i < n; ++i) y[i] = c[i * sc] != 0 ? a[i * sa] : b[i * sb];
}

#define FOVEA_WHERE(suffix, T)                                                          \
  void where_##suffix(const uint8_t* c, int64_t sc, const T* a, int64_t sa, const T* b, \
                      int64_t sb, T* y, int64_t n) {                                    \
    Where(c, sc, a, sa, b, sb, y, n);                                                   \
  }
FOVEA_WHERE(f32, float)
FOVEA_WHERE(f64, double)
FOVEA_WHERE(i64, int64_t)
FOVEA_WHERE(u8, uint8_t)
#undef FOVEA_WHERE
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
#define FOVEA_WHERE(suffix, T)                                                                \
  HWY_EXPORT(where_##suffix);                                                                 \
  void where(const std::uint8_t* c, std::int64_t sc, const T* a, std::int64_t sa, const T* b, \
             std::int64_t sb, T* y, std::int64_t n) {                                         \
    HWY_DYNAMIC_DISPATCH(where_##suffix)(c, sc, a, sa, b, sb, y, n);                          \
  }
FOVEA_WHERE(f32, float)
FOVEA_WHERE(f64, double)
FOVEA_WHERE(i64, std::int64_t)
FOVEA_WHERE(u8, std::uint8_t)
#undef FOVEA_WHERE
}  // namespace fovea::kernels
#endif  // HWY_ONCE
