// Additive attention scores: tanh is computed where it is used, in either direction.
#include "fovea/ops/kernels/additive.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/additive.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/row-inl.h"
#include "fovea/ops/kernels/vmath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

// v_c tanh(q_c + k_c); lanes past the end load zeros and add nothing.
template <class T>
struct AdditiveTerm {
  const T *q, *k, *v;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    const auto t = vmath::Tanh(d, hn::Add(memory.Load(d, q + i), memory.Load(d, k + i)));
    return hn::MulAdd(memory.Load(d, v + i), t, acc);
  }
};

template <class T>
HWY_INLINE void Row(const T* q, const T* k, const T* v, T* s, int64_t keys, int64_t h) {
  for (int64_t j = 0; j < keys; ++j) {
    s[j] = static_cast<T>(Accumulate<T, 4>(h, AdditiveTerm<T>{q, k + j * h, v}));
  }
}

// Sums over j go in blocks, so that a long row of keys keeps its digits.
template <class T>
HWY_INLINE void Backward(const AdditiveBackward<T>& p) {
  constexpr int64_t kBlock = 64;
  for (int64_t i = 0; i < p.rows; ++i) {
    const T* gs = p.gs + i * p.step_a;
    ForRow<T>(p.h, [&](auto d, int64_t c, const auto& memory) HWY_ATTR {
      using V = hn::Vec<decltype(d)>;
      const V a = memory.Load(d, p.a + i * p.h + c), v = memory.Load(d, p.v + c);
      const V one = hn::Set(d, T(1));
      V row = hn::Zero(d), gv = row;
      for (int64_t first = 0; first < p.others; first += kBlock) {
        const int64_t end = p.others - first < kBlock ? p.others : first + kBlock;
        V row_part = hn::Zero(d), v_part = row_part;
        for (int64_t j = first; j < end; ++j) {
          const V g = hn::Set(d, gs[j * p.step_b]);
          const V t = vmath::Tanh(d, hn::Add(a, memory.Load(d, p.b + j * p.h + c)));
          const V slope = hn::Mul(g, hn::NegMulAdd(t, t, one));
          T* gb = p.gb + j * p.h + c;
          memory.Store(d, hn::MulAdd(slope, v, memory.Load(d, gb)), gb);
          row_part = hn::Add(row_part, slope);
          v_part = hn::MulAdd(g, t, v_part);
        }
        row = hn::Add(row, row_part);
        gv = hn::Add(gv, v_part);
      }
      memory.Store(d, hn::Mul(row, v), p.ga + i * p.h + c);
      memory.Store(d, hn::Add(memory.Load(d, p.gv + c), gv), p.gv + c);
    });
  }
}

void RowF32(const float* q, const float* k, const float* v, float* s, int64_t keys, int64_t h) {
  Row(q, k, v, s, keys, h);
}
void RowF64(const double* q, const double* k, const double* v, double* s, int64_t keys, int64_t h) {
  Row(q, k, v, s, keys, h);
}
void BackwardF32(const AdditiveBackward<float>& p) { Backward(p); }
void BackwardF64(const AdditiveBackward<double>& p) { Backward(p); }

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(RowF32);
HWY_EXPORT(RowF64);
HWY_EXPORT(BackwardF32);
HWY_EXPORT(BackwardF64);

void additive_scores_row(const float* q, const float* k, const float* v, float* s, int64_t keys,
                         int64_t h) {
  HWY_DYNAMIC_DISPATCH(RowF32)(q, k, v, s, keys, h);
}
void additive_scores_row(const double* q, const double* k, const double* v, double* s, int64_t keys,
                         int64_t h) {
  HWY_DYNAMIC_DISPATCH(RowF64)(q, k, v, s, keys, h);
}
void additive_scores_backward(const AdditiveBackward<float>& p) {
  HWY_DYNAMIC_DISPATCH(BackwardF32)(p);
}
void additive_scores_backward(const AdditiveBackward<double>& p) {
  HWY_DYNAMIC_DISPATCH(BackwardF64)(p);
}

}  // namespace fovea::kernels
#endif  // HWY_ONCE
