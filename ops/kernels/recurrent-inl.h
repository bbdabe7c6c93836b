// How the kernels of recurrent layers go over the sequences of a slice: those that have ended keep
// their state. Per-target header: included once for each instruction set.
#if defined(FOVEA_OPS_KERNELS_RECURRENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_RECURRENT_INL_H_
#undef FOVEA_OPS_KERNELS_RECURRENT_INL_H_
#else
#define FOVEA_OPS_KERNELS_RECURRENT_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "fovea/ops/kernels/recurrent.h"
#include "fovea/ops/kernels/row-inl.h"
#include "fovea/ops/kernels/vmath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// a (1 - a) is the slope of a sigmoid that gave a.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SigmoidSlope(D /*d*/, V a) {
  return hn::NegMulAdd(a, a, a);
}
// 1 - a^2 is the slope of a tanh that gave a.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V TanhSlope(D d, V a) {
  return hn::NegMulAdd(a, a, hn::Set(d, hn::TFromD<D>(1)));
}

// The numbers of one sequence at one step: pointers into the rows of RecurrentForward.
template <class T>
struct ForwardRow {
  const T* product;
  T *planes, *h, *c, *y, *y_c;
};
// body(row, d, i, memory) for the vectors of every sequence that has this step.
template <class T, class Body>
HWY_INLINE void ForwardRows(const RecurrentForward<T>& p, int64_t gates, const Body& body) {
  const int64_t n = p.hidden;
  for (int64_t r = 0; r < p.rows; ++r) {
    const ForwardRow<T> row{p.product + r * gates * n,
                            p.planes + r * p.planes_row,
                            p.h + r * n,
                            p.c ? p.c + r * n : nullptr,
                            p.y + r * p.y_row,
                            p.y_c ? p.y_c + r * p.y_row : nullptr};
    if (p.lengths && p.t >= p.lengths[r]) {
      std::copy(row.h, row.h + n, row.y);
      if (row.c) std::copy(row.c, row.c + n, row.y_c);
      continue;
    }
    ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR { body(row, d, i, memory); });
  }
}

template <class T>
struct BackwardRow {
  const T *planes, *after, *before, *gy, *gy_c;
  T *gh, *gc, *gplanes, *gproduct;
};
// As ForwardRows; a sequence without this step hands its gradient on, and all planes get 0.
template <class T, class Body>
HWY_INLINE void BackwardRows(const RecurrentBackward<T>& p, int64_t gates, int64_t planes,
                             const Body& body) {
  const int64_t n = p.hidden;
  for (int64_t r = 0; r < p.rows; ++r) {
    const BackwardRow<T> row{p.planes ? p.planes + r * p.planes_row : nullptr,
                             p.after ? p.after + r * p.after_row : nullptr,
                             p.before ? p.before + r * p.before_row : nullptr,
                             p.gy + r * p.gy_row,
                             p.gy_c ? p.gy_c + r * p.gy_row : nullptr,
                             p.gh + r * n,
                             p.gc ? p.gc + r * n : nullptr,
                             p.gplanes + r * p.planes_row,
                             p.gproduct + r * gates * n};
    if (p.lengths && p.t >= p.lengths[r]) {
      for (int64_t i = 0; i < n; ++i) row.gh[i] += row.gy[i];
      if (row.gc) {
        for (int64_t i = 0; i < n; ++i) row.gc[i] += row.gy_c[i];
      }
      std::fill(row.gplanes, row.gplanes + planes * n, T(0));
      std::fill(row.gproduct, row.gproduct + gates * n, T(0));
      continue;
    }
    ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR { body(row, d, i, memory); });
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
