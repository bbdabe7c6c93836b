// Loads and stores of the last, partial vector of a row, which never touch memory past its end.
//
// Included once for each instruction set: the guard toggles (see Highway's foreach_target.h).
#if defined(FOVEA_OPS_KERNELS_LOAD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_LOAD_INL_H_
#undef FOVEA_OPS_KERNELS_LOAD_INL_H_
#else
#define FOVEA_OPS_KERNELS_LOAD_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// True where masked loads and stores of this lane size suppress faults in hardware.
template <class T>
constexpr bool masked_memory_is_safe() {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return true;
#elif HWY_TARGET == HWY_AVX2
  return sizeof(T) >= 4;
#else
  return false;
#endif
}

// The first `count` < Lanes(d) elements at p; `fill` in the other lanes.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadN(D d, const T* p, size_t count, T fill = T(0)) {
  if constexpr (masked_memory_is_safe<T>()) {
    const auto mask = hn::FirstN(d, count);
    return hn::IfThenElse(mask, hn::MaskedLoad(mask, d, p), hn::Set(d, fill));
  } else {
    HWY_ALIGN T buffer[hn::MaxLanes(D())];
    hn::Store(hn::Set(d, fill), d, buffer);
    for (size_t i = 0; i < count; ++i) buffer[i] = p[i];
    return hn::Load(d, buffer);
  }
}

// Writes the first `count` < Lanes(d) lanes of v.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void StoreN(D d, hn::Vec<D> v, T* p, size_t count) {
  if constexpr (masked_memory_is_safe<T>()) {
    hn::BlendedStore(v, hn::FirstN(d, count), d, p);
  } else {
    HWY_ALIGN T buffer[hn::MaxLanes(D())];
    hn::Store(v, d, buffer);
    for (size_t i = 0; i < count; ++i) p[i] = buffer[i];
  }
}

// How a loop body touches memory: the same body runs on whole vectors and on the rest of a row.
// StoreOut is for outputs that may bypass the cache (Streaming).
struct Whole {
  template <class D, class T = hn::TFromD<D>>
  HWY_INLINE hn::Vec<D> Load(D d, const T* p, T /*fill*/ = T(0)) const {
    return hn::LoadU(d, p);
  }
  template <class D, class T = hn::TFromD<D>>
  HWY_INLINE void Store(D d, hn::Vec<D> v, T* p) const {
    hn::StoreU(v, d, p);
  }
  template <class D, class T = hn::TFromD<D>>
  HWY_INLINE void StoreOut(D d, hn::Vec<D> v, T* p) const {
    Store(d, v, p);
  }
  // Zero in the lanes that stand for no element.
  template <class D>
  HWY_INLINE hn::Vec<D> ZeroRest(D /*d*/, hn::Vec<D> v) const {
    return v;
  }
};

// p of StoreOut must be aligned to a vector; FlushStream() after the last one.
struct Streaming : Whole {
  template <class D, class T = hn::TFromD<D>>
  HWY_INLINE void StoreOut(D d, hn::Vec<D> v, T* p) const {
    hn::Stream(v, d, p);
  }
};

struct Partial {
  size_t count;
  template <class D, class T = hn::TFromD<D>>
  HWY_INLINE void StoreOut(D d, hn::Vec<D> v, T* p) const {
    Store(d, v, p);
  }
  template <class D, class T = hn::TFromD<D>>
  HWY_INLINE hn::Vec<D> Load(D d, const T* p, T fill = T(0)) const {
    return LoadN(d, p, count, fill);
  }
  template <class D, class T = hn::TFromD<D>>
  HWY_INLINE void Store(D d, hn::Vec<D> v, T* p) const {
    StoreN(d, v, p, count);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> ZeroRest(D d, hn::Vec<D> v) const {
    return hn::IfThenElseZero(hn::FirstN(d, count), v);
  }
};

template <class D>
HWY_INLINE hn::TFromD<D> ReduceSum(D d, hn::Vec<D> v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

template <class D>
HWY_INLINE hn::TFromD<D> ReduceMax(D d, hn::Vec<D> v) {
  return hn::GetLane(hn::MaxOfLanes(d, v));
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_OPS_KERNELS_LOAD_INL_H_
