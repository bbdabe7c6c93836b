// cross-entropy of logits with integer targets.         logits, gx: (rows, V); loss, lse: (rows)
// p = softmax(logits), t the target, w the class weights, s the smoothing:
// forward   loss = (1 - s) w_t (lse - x_t) + s / V sum_k w_k (lse - x_k),
//           lse = top + log(total), top = max x, total = sum_k exp(x_k - top)
// backward  gx_k = scale (p_k a - [k = t] (1 - s) w_t - s / V w_k),   p_k = exp(x_k - top) / total,
//           a = (1 - s) w_t + s / V sum_k w_k
// A row is read while it is in cache; probabilities are never stored. top and total are kept apart:
// their sum lse, rounded to T, would lose log(total) for logits of 1e8.
#include <cmath>
#include <limits>

#include "fovea/ops/kernels/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/cross_entropy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/row-inl.h"
#include "fovea/ops/kernels/vmath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct ExpTerm {
  const T* x;
  T shift;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    const auto e = vmath::Exp(d, hn::Sub(memory.Load(d, x + i), hn::Set(d, shift)));
    return hn::Add(acc, memory.ZeroRest(d, e));
  }
};

// w (top - x), with w = 1 when there are no weights.
template <bool kWeight, class T>
struct BelowTopTerm {
  const T* x;
  const T* weight;
  T top;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    const auto below = hn::Sub(hn::Set(d, top), memory.Load(d, x + i, top));
    if constexpr (kWeight) {  // what counts nothing may lie at -inf
      const auto w = memory.Load(d, weight + i);
      return hn::MulAdd(hn::IfThenZeroElse(hn::Eq(w, hn::Zero(d)), below), w, acc);
    }
    return hn::Add(acc, below);
  }
};

template <class T>
struct WeightTerm {
  const T* weight;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    return hn::Add(acc, memory.Load(d, weight + i));
  }
};

// sum_k w_k: needed only where there is smoothing.
template <class T>
HWY_INLINE double WeightSum(double smoothing, const T* weight, int64_t classes) {
  if (smoothing == 0 || weight == nullptr) return static_cast<double>(classes);
  return Accumulate<T>(classes, WeightTerm<T>{weight});
}

// Whether a row adds anything to the loss. What does not is not looked at.
template <class T>
HWY_INLINE bool Counts(int64_t target, int64_t ignore_index, double smoothing, const T* weight) {
  return target != ignore_index && (smoothing != 0 || weight == nullptr || weight[target] != 0);
}

template <class T>
HWY_INLINE void CrossEntropyRows(const T* x, const int64_t* target, int64_t ignore_index,
                                 double smoothing, const T* weight, T* loss, T* top, T* total,
                                 int64_t rows, int64_t classes) {
  const double weight_sum = WeightSum(smoothing, weight, classes);
  for (int64_t r = 0; r < rows; ++r, x += classes) {
    const int64_t t = target[r];
    if (!Counts(t, ignore_index, smoothing, weight)) {
      loss[r] = top[r] = T(0);
      total[r] = T(1);
      continue;
    }
    const T high = RowMax(x, classes);
    const double sum = Accumulate<T, 4>(classes, ExpTerm<T>{x, high});
    const double rest = std::log(sum);
    const double wt = weight == nullptr ? 1.0 : static_cast<double>(weight[t]);
    const double nll = (static_cast<double>(high) - static_cast<double>(x[t])) + rest;
    const double own = (1 - smoothing) * wt;
    double value = own == 0 ? 0 : own * nll;
    if (smoothing != 0) {
      const double below = weight == nullptr
                               ? Accumulate<T>(classes, BelowTopTerm<false, T>{x, weight, high})
                               : Accumulate<T>(classes, BelowTopTerm<true, T>{x, weight, high});
      value += smoothing / static_cast<double>(classes) * (below + rest * weight_sum);
    }
    loss[r] = static_cast<T>(value);
    top[r] = high;
    total[r] = static_cast<T>(sum);
  }
}

// gx = exp(x - top) a - w b for one row, and c less at the target; 0 where x = -inf. The target's
// entry is written apart, as a row that bypassed the cache is slow to read back.
template <bool kSmooth, bool kWeight, bool kStream, class T>
HWY_INLINE void BackwardRow(const T* x, T top, const T* weight, T a, T b, T c, int64_t target,
                            T* gx, int64_t classes) {
  const auto gradient = [&](auto d, auto logit, auto w) HWY_ATTR {
    const auto p = vmath::Exp(d, hn::Sub(logit, hn::Set(d, top)));
    const auto g = hn::Mul(p, hn::Set(d, a));  // 0 at -inf
    if constexpr (!kSmooth) return g;
    const auto impossible = hn::Eq(logit, hn::Neg(vmath::Infinity(d)));
    return hn::IfThenZeroElse(impossible, hn::NegMulAdd(w, hn::Set(d, b), g));
  };
  const hn::ScalableTag<T> dt;
  const T w_target = kWeight ? weight[target] : T(1);
  const T at_target = hn::GetLane(gradient(dt, hn::Set(dt, x[target]), hn::Set(dt, w_target)));
  ForRow<T, kStream>(classes, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
    auto w = hn::Set(d, T(1));
    if constexpr (kSmooth && kWeight) w = memory.Load(d, weight + i);
    memory.StoreOut(d, gradient(d, memory.Load(d, x + i), w), gx + i);
  });
  gx[target] = x[target] == -std::numeric_limits<T>::infinity() ? T(0) : at_target - c;
}

template <bool kStream, class T>
HWY_INLINE void CrossEntropyBackwardRows(const T* x, const T* top, const T* total,
                                         const int64_t* target, int64_t ignore_index,
                                         double smoothing, const T* weight, const T* scale, T* gx,
                                         int64_t rows, int64_t classes) {
  const double weight_sum = WeightSum(smoothing, weight, classes);
  const double share = smoothing / static_cast<double>(classes);
  for (int64_t r = 0; r < rows; ++r, x += classes, gx += classes) {
    const int64_t t = target[r];
    if (!Counts(t, ignore_index, smoothing, weight)) {
      ForRow<T, kStream>(classes, [&](auto d, int64_t i, const auto& memory)
                                      HWY_ATTR { memory.StoreOut(d, hn::Zero(d), gx + i); });
      continue;
    }
    const double up = static_cast<double>(scale[r]);
    const double wt = weight == nullptr ? 1.0 : static_cast<double>(weight[t]);
    const T a = static_cast<T>(up * ((1 - smoothing) * wt + share * weight_sum) /
                               static_cast<double>(total[r]));
    const T b = static_cast<T>(up * share);
    const T c = static_cast<T>(up * (1 - smoothing) * wt);
    if (smoothing == 0) {
      BackwardRow<false, false, kStream>(x, top[r], weight, a, b, c, t, gx, classes);
    } else if (weight == nullptr) {
      BackwardRow<true, false, kStream>(x, top[r], weight, a, b, c, t, gx, classes);
    } else {
      BackwardRow<true, true, kStream>(x, top[r], weight, a, b, c, t, gx, classes);
    }
  }
}

template <class T>
HWY_INLINE void CrossEntropyBackward(const T* x, const T* top, const T* total,
                                     const int64_t* target, int64_t ignore_index, double smoothing,
                                     const T* weight, const T* scale, T* gx, int64_t rows,
                                     int64_t classes, bool stream) {
  if (stream && CanStream(gx, classes)) {
    CrossEntropyBackwardRows<true>(x, top, total, target, ignore_index, smoothing, weight, scale,
                                   gx, rows, classes);
    hwy::FlushStream();
  } else {
    CrossEntropyBackwardRows<false>(x, top, total, target, ignore_index, smoothing, weight, scale,
                                    gx, rows, classes);
  }
}

void CrossEntropyF32(const float* x, const int64_t* target, int64_t ignore_index, double smoothing,
                     const float* weight, float* loss, float* top, float* total, int64_t rows,
                     int64_t classes) {
  CrossEntropyRows(x, target, ignore_index, smoothing, weight, loss, top, total, rows, classes);
}
void CrossEntropyF64(const double* x, const int64_t* target, int64_t ignore_index, double smoothing,
                     const double* weight, double* loss, double* top, double* total, int64_t rows,
                     int64_t classes) {
  CrossEntropyRows(x, target, ignore_index, smoothing, weight, loss, top, total, rows, classes);
}
void CrossEntropyBackwardF32(const float* x, const float* top, const float* total,
                             const int64_t* target, int64_t ignore_index, double smoothing,
                             const float* weight, const float* scale, float* gx, int64_t rows,
                             int64_t classes, bool stream) {
  CrossEntropyBackward(x, top, total, target, ignore_index, smoothing, weight, scale, gx, rows,
                       classes, stream);
}
void CrossEntropyBackwardF64(const double* x, const double* top, const double* total,
                             const int64_t* target, int64_t ignore_index, double smoothing,
                             const double* weight, const double* scale, double* gx, int64_t rows,
                             int64_t classes, bool stream) {
  CrossEntropyBackward(x, top, total, target, ignore_index, smoothing, weight, scale, gx, rows,
                       classes, stream);
}

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(CrossEntropyF32);
HWY_EXPORT(CrossEntropyF64);
HWY_EXPORT(CrossEntropyBackwardF32);
HWY_EXPORT(CrossEntropyBackwardF64);

void cross_entropy_rows(const float* logits, const int64_t* target, int64_t ignore_index,
                        double smoothing, const float* weight, float* loss, float* top,
                        float* total, int64_t rows, int64_t classes) {
  HWY_DYNAMIC_DISPATCH(CrossEntropyF32)
  (logits, target, ignore_index, smoothing, weight, loss, top, total, rows, classes);
}
void cross_entropy_rows(const double* logits, const int64_t* target, int64_t ignore_index,
                        double smoothing, const double* weight, double* loss, double* top,
                        double* total, int64_t rows, int64_t classes) {
  HWY_DYNAMIC_DISPATCH(CrossEntropyF64)
  (logits, target, ignore_index, smoothing, weight, loss, top, total, rows, classes);
}
void cross_entropy_backward_rows(const float* logits, const float* top, const float* total,
                                 const int64_t* target, int64_t ignore_index, double smoothing,
                                 const float* weight, const float* scale, float* gx, int64_t rows,
                                 int64_t classes, bool stream) {
  HWY_DYNAMIC_DISPATCH(CrossEntropyBackwardF32)
  (logits, top, total, target, ignore_index, smoothing, weight, scale, gx, rows, classes, stream);
}
void cross_entropy_backward_rows(const double* logits, const double* top, const double* total,
                                 const int64_t* target, int64_t ignore_index, double smoothing,
                                 const double* weight, const double* scale, double* gx,
                                 int64_t rows, int64_t classes, bool stream) {
  HWY_DYNAMIC_DISPATCH(CrossEntropyBackwardF64)
  (logits, top, total, target, ignore_index, smoothing, weight, scale, gx, rows, classes, stream);
}

}  // namespace fovea::kernels
#endif  // HWY_ONCE
