// y += a x, y = a x and y += x on arrays.
#include <cstdint>

#include "fovea/ops/kernels/binary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/binary_update.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "fovea/ops/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
// The factor a is a vector already: an op carries no state but it.
template <class V>
struct AxpyOp {
  V a;
  template <class D>
  HWY_INLINE V operator()(D /*d*/, V x, V y) const {
    return hn::MulAdd(a, x, y);
  }
};
template <class V>
struct ScaleOp {
  V a;
  template <class D>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Mul(a, x);
  }
};
struct AddOp {
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x, V y) const {
    return hn::Add(x, y);
  }
};

#define FOVEA_UPDATES(suffix, T)                                               \
  void axpy_##suffix(T a, const T* x, T* y, int64_t n) {                       \
    using V = hn::Vec<hn::ScalableTag<T>>;                                     \
    BinaryLoop<1, 1>(x, y, y, n, AxpyOp<V>{hn::Set(hn::ScalableTag<T>(), a)}); \
  }                                                                            \
  void scale_##suffix(T a, const T* x, T* y, int64_t n) {                      \
    using V = hn::Vec<hn::ScalableTag<T>>;                                     \
    UnaryLoop(x, y, n, ScaleOp<V>{hn::Set(hn::ScalableTag<T>(), a)});          \
  }                                                                            \
  void add_inplace_##suffix(T* y, const T* x, int64_t n) { BinaryLoop<1, 1>(y, x, y, n, AddOp()); }
FOVEA_UPDATES(f32, float)
FOVEA_UPDATES(f64, double)
#undef FOVEA_UPDATES
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
#define FOVEA_UPDATES(suffix, T)                         \
  HWY_EXPORT(axpy_##suffix);                             \
  HWY_EXPORT(scale_##suffix);                            \
  HWY_EXPORT(add_inplace_##suffix);                      \
  void axpy(T a, const T* x, T* y, std::int64_t n) {     \
    HWY_DYNAMIC_DISPATCH(axpy_##suffix)(a, x, y, n);     \
  }                                                      \
  void scale(T a, const T* x, T* y, std::int64_t n) {    \
    HWY_DYNAMIC_DISPATCH(scale_##suffix)(a, x, y, n);    \
  }                                                      \
  void add_inplace(T* y, const T* x, std::int64_t n) {   \
    HWY_DYNAMIC_DISPATCH(add_inplace_##suffix)(y, x, n); \
  }
FOVEA_UPDATES(f32, float)
FOVEA_UPDATES(f64, double)
#undef FOVEA_UPDATES
}  // namespace fovea::kernels
#endif  // HWY_ONCE
