// layer norm along the last axis.           x, y, gy, gx: (rows, n); gamma, beta: (n)
// forward   xhat = (x - mean) rstd,  y = xhat gamma + beta
// backward  g = gy gamma:  gx = rstd (g - mean(g) - xhat mean(g xhat));  ggamma = sum_r gy xhat
//
// The mean is taken of x - x_0, so that a row far from zero keeps its digits and a constant row
// has deviations of exactly 0. Backward gets the mean rounded to T: it measures by how much
// (mean of xhat, which should be 0) and takes that out.
#include <cmath>

#include "fovea/ops/kernels/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/layer_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct ShiftedTerm {
  const T* x;
  T origin;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    return hn::Add(acc, hn::Sub(memory.Load(d, x + i, origin), hn::Set(d, origin)));
  }
};

template <class T>
struct SquaredDeviationTerm {
  const T* x;
  T origin;
  T mean;  // of x - origin
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    const auto shifted = hn::Sub(memory.Load(d, x + i), hn::Set(d, origin));
    const auto away = memory.ZeroRest(d, hn::Sub(shifted, hn::Set(d, mean)));
    return hn::MulAdd(away, away, acc);
  }
};

// One row; kGamma, kBeta: whether there is one.
template <bool kGamma, bool kBeta, class T>
HWY_INLINE void Normalise(const T* x, const T* gamma, const T* beta, T origin, T mean, T rstd, T* y,
                          int64_t n) {
  ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
    const auto shifted = hn::Sub(memory.Load(d, x + i), hn::Set(d, origin));
    auto v = hn::Mul(hn::Sub(shifted, hn::Set(d, mean)), hn::Set(d, rstd));
    if constexpr (kGamma && kBeta) {
      v = hn::MulAdd(v, memory.Load(d, gamma + i), memory.Load(d, beta + i));
    } else if constexpr (kGamma) {
      v = hn::Mul(v, memory.Load(d, gamma + i));
    } else if constexpr (kBeta) {
      v = hn::Add(v, memory.Load(d, beta + i));
    }
    memory.Store(d, v, y + i);
  });
}

template <class T>
HWY_INLINE void LayerNormRows(const T* x, const T* gamma, const T* beta, double eps, T* y, T* mean,
                              T* rstd, int64_t rows, int64_t n) {
  if (n == 0) return;
  const double count = static_cast<double>(n);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T origin = x[0];
    const double shifted_mean = Accumulate<T>(n, ShiftedTerm<T>{x, origin}) / count;
    const T m = static_cast<T>(shifted_mean);
    const double variance = Accumulate<T>(n, SquaredDeviationTerm<T>{x, origin, m}) / count;
    const double scale = 1 / std::sqrt(variance + eps);
    const T s = static_cast<T>(scale);
    if (mean != nullptr) mean[r] = static_cast<T>(static_cast<double>(origin) + shifted_mean);
    if (rstd != nullptr) rstd[r] = s;
    if (gamma != nullptr && beta != nullptr) {
      Normalise<true, true>(x, gamma, beta, origin, m, s, y, n);
    } else if (gamma != nullptr) {
      Normalise<true, false>(x, gamma, beta, origin, m, s, y, n);
    } else if (beta != nullptr) {
      Normalise<false, true>(x, gamma, beta, origin, m, s, y, n);
    } else {
      Normalise<false, false>(x, gamma, beta, origin, m, s, y, n);
    }
  }
}

// Three sums in one pass: g, g h and h, where h = (x - mean) rstd.
struct BackwardSums {
  double g = 0, gh = 0, h = 0;
};

template <bool kGamma, class T>
HWY_INLINE BackwardSums SumBackward(const T* x, const T* gamma, const T* gy, T mean, T rstd,
                                    int64_t n) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t block = 32 * lanes;
  const auto body = [&](V& g_sum, V& gh_sum, V& h_sum, int64_t i, const auto& memory) HWY_ATTR {
    const auto shifted = hn::Sub(memory.Load(d, x + i, mean), hn::Set(d, mean));
    const auto h = hn::Mul(shifted, hn::Set(d, rstd));
    auto g = memory.Load(d, gy + i);
    if constexpr (kGamma) g = hn::Mul(g, memory.Load(d, gamma + i));
    g_sum = hn::Add(g_sum, g);
    gh_sum = hn::MulAdd(g, h, gh_sum);
    h_sum = hn::Add(h_sum, h);
  };
  BackwardSums total;
  for (int64_t i = 0; i < n;) {
    const int64_t end = n - i < block ? n : i + block;
    V g0 = hn::Zero(d), gh0 = g0, h0 = g0, g1 = g0, gh1 = g0, h1 = g0;
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      body(g0, gh0, h0, i, Whole());
      body(g1, gh1, h1, i + lanes, Whole());
    }
    for (; i + lanes <= end; i += lanes) body(g0, gh0, h0, i, Whole());
    if (i < end) body(g1, gh1, h1, i, Partial{static_cast<size_t>(end - i)});
    i = end;
    total.g += ReduceSum(d, hn::Add(g0, g1));
    total.gh += ReduceSum(d, hn::Add(gh0, gh1));
    total.h += ReduceSum(d, hn::Add(h0, h1));
  }
  return total;
}

// kGx, kParam: whether gx, and whether both ggamma and gbeta, are wanted.
template <bool kGamma, bool kGx, bool kParam, class T>
HWY_INLINE void BackwardRow(const T* x, const T* gamma, const T* gy, T mean, T rstd, T* gx,
                            T* ggamma, T* gbeta, int64_t n) {
  const double count = static_cast<double>(n);
  const BackwardSums sums = SumBackward<kGamma>(x, gamma, gy, mean, rstd, n);
  const double centre = sums.h / count;
  const T c = static_cast<T>(centre);
  const T g_mean = static_cast<T>(sums.g / count);
  const T slope = static_cast<T>((sums.gh - centre * sums.g) / count);
  ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
    const auto shifted = hn::Sub(memory.Load(d, x + i), hn::Set(d, mean));
    const auto xhat = hn::MulSub(shifted, hn::Set(d, rstd), hn::Set(d, c));
    const auto upstream = memory.Load(d, gy + i);
    if constexpr (kGx) {
      auto g = upstream;
      if constexpr (kGamma) g = hn::Mul(g, memory.Load(d, gamma + i));
      const auto centred = hn::Sub(g, hn::Set(d, g_mean));
      const auto v = hn::NegMulAdd(xhat, hn::Set(d, slope), centred);
      memory.Store(d, hn::Mul(v, hn::Set(d, rstd)), gx + i);
    }
    if constexpr (kParam) {
      memory.Store(d, hn::MulAdd(upstream, xhat, memory.Load(d, ggamma + i)), ggamma + i);
      memory.Store(d, hn::Add(upstream, memory.Load(d, gbeta + i)), gbeta + i);
    }
  });
}

template <bool kGamma, class T>
HWY_INLINE void LayerNormBackward(const T* x, const T* gamma, const T* mean, const T* rstd,
                                  const T* gy, T* gx, T* ggamma, T* gbeta, int64_t rows,
                                  int64_t n) {
  const bool param = ggamma != nullptr && gbeta != nullptr;
  for (int64_t r = 0; r < rows; ++r, x += n, gy += n) {
    const T m = mean[r], s = rstd[r];
    if (gx != nullptr && param) {
      BackwardRow<kGamma, true, true>(x, gamma, gy, m, s, gx + r * n, ggamma, gbeta, n);
    } else if (gx != nullptr) {
      BackwardRow<kGamma, true, false>(x, gamma, gy, m, s, gx + r * n, ggamma, gbeta, n);
    } else if (param) {
      BackwardRow<kGamma, false, true>(x, gamma, gy, m, s, gx, ggamma, gbeta, n);
    }
  }
}

template <class T>
HWY_INLINE void LayerNormBackwardRows(const T* x, const T* gamma, const T* mean, const T* rstd,
                                      const T* gy, T* gx, T* ggamma, T* gbeta, int64_t rows,
                                      int64_t n) {
  if (gamma != nullptr) {
    LayerNormBackward<true>(x, gamma, mean, rstd, gy, gx, ggamma, gbeta, rows, n);
  } else {
    LayerNormBackward<false>(x, gamma, mean, rstd, gy, gx, ggamma, gbeta, rows, n);
  }
}

void LayerNormF32(const float* x, const float* gamma, const float* beta, double eps, float* y,
                  float* mean, float* rstd, int64_t rows, int64_t n) {
  LayerNormRows(x, gamma, beta, eps, y, mean, rstd, rows, n);
}
void LayerNormF64(const double* x, const double* gamma, const double* beta, double eps, double* y,
                  double* mean, double* rstd, int64_t rows, int64_t n) {
  LayerNormRows(x, gamma, beta, eps, y, mean, rstd, rows, n);
}
void LayerNormBackwardF32(const float* x, const float* gamma, const float* mean, const float* rstd,
                          const float* gy, float* gx, float* ggamma, float* gbeta, int64_t rows,
                          int64_t n) {
  LayerNormBackwardRows(x, gamma, mean, rstd, gy, gx, ggamma, gbeta, rows, n);
}
void LayerNormBackwardF64(const double* x, const double* gamma, const double* mean,
                          const double* rstd, const double* gy, double* gx, double* ggamma,
                          double* gbeta, int64_t rows, int64_t n) {
  LayerNormBackwardRows(x, gamma, mean, rstd, gy, gx, ggamma, gbeta, rows, n);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(LayerNormF32);
HWY_EXPORT(LayerNormF64);
HWY_EXPORT(LayerNormBackwardF32);
HWY_EXPORT(LayerNormBackwardF64);

void layer_norm_rows(const float* x, const float* gamma, const float* beta, double eps, float* y,
                     float* mean, float* rstd, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(LayerNormF32)(x, gamma, beta, eps, y, mean, rstd, rows, n);
}
void layer_norm_rows(const double* x, const double* gamma, const double* beta, double eps,
                     double* y, double* mean, double* rstd, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(LayerNormF64)(x, gamma, beta, eps, y, mean, rstd, rows, n);
}
void layer_norm_backward_rows(const float* x, const float* gamma, const float* mean,
                              const float* rstd, const float* gy, float* gx, float* ggamma,
                              float* gbeta, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(LayerNormBackwardF32)
  (x, gamma, mean, rstd, gy, gx, ggamma, gbeta, rows, n);
}
void layer_norm_backward_rows(const double* x, const double* gamma, const double* mean,
                              const double* rstd, const double* gy, double* gx, double* ggamma,
                              double* gbeta, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(LayerNormBackwardF64)
  (x, gamma, mean, rstd, gy, gx, ggamma, gbeta, rows, n);
}

}  // namespace fovea::kernels
#endif  // HWY_ONCE
