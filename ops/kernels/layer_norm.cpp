// layer norm along the last axis.           x, y, gy, gx: (rows, n); gamma, beta: (n)
// forward   xhat = (x - mean) rstd,  y = xhat gamma + beta
// backward  g = gy gamma:  gx = rstd (g - mean(g) - xhat mean(g xhat));  ggamma = sum_r gy xhat
//
// Uncentred (rms norm): the mean counts as 0, and mean(g) is absent from gx.
//
// The mean is taken of x - x_0, so that a row far from zero keeps its digits and a constant row
// has deviations of exactly 0. Backward gets the mean rounded to T: it measures by how much
// (mean of xhat, which should be 0) and takes that out.
//
// Squares of elements like 1e20 or 1e-25 leave the range of float. A row whose variance shows that
// takes a path of its own, in long double, forward and backward: slow, and rare.
#include <cmath>
#include <limits>
#include <type_traits>

#include "fovea/ops/kernels/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/layer_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

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
template <bool kGamma, bool kBeta, bool kStream, class T>
HWY_INLINE void Normalise(const T* x, const T* gamma, const T* beta, T origin, T mean, T rstd, T* y,
                          int64_t n) {
  ForRow<T, kStream>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
    const auto shifted = hn::Sub(memory.Load(d, x + i), hn::Set(d, origin));
    auto v = hn::Mul(hn::Sub(shifted, hn::Set(d, mean)), hn::Set(d, rstd));
    if constexpr (kGamma && kBeta) {
      v = hn::MulAdd(v, memory.Load(d, gamma + i), memory.Load(d, beta + i));
    } else if constexpr (kGamma) {
      v = hn::Mul(v, memory.Load(d, gamma + i));
    } else if constexpr (kBeta) {
      v = hn::Add(v, memory.Load(d, beta + i));
    }
    memory.StoreOut(d, v, y + i);
  });
}

// Of one row. Compiled once, not into each of its callers.
struct Moments {
  double mean;  // of x - x_0
  double variance;
};

template <class T>
HWY_NOINLINE Moments MomentsOf(const T* x, int64_t n, bool centred) {
  const double count = static_cast<double>(n);
  if (!centred) return {0, Accumulate<T>(n, SquaredDeviationTerm<T>{x, T(0), T(0)}) / count};
  const double mean = Accumulate<T>(n, ShiftedTerm<T>{x, x[0]}) / count;
  const T m = static_cast<T>(mean);
  return {mean, Accumulate<T>(n, SquaredDeviationTerm<T>{x, x[0], m}) / count};
}

// Whether squares in T neither overflowed nor lost digits below the normal numbers. NaN: no.
template <class T>
HWY_INLINE bool InRange(double variance_and_eps) {
  constexpr double kLow = sizeof(T) == sizeof(float) ? 1e-29 : 1e-290;
  return variance_and_eps >= kLow && variance_and_eps < std::numeric_limits<double>::infinity();
}
// The same told from 1 / sqrt(variance + eps), with room for its rounding.
template <class T>
HWY_INLINE bool ScaleInRange(T rstd) {
  constexpr double kHigh = sizeof(T) == sizeof(float) ? 1e14 : 1e144;
  constexpr double kLow = sizeof(T) == sizeof(float) ? 1e-18 : 1e-153;
  return static_cast<double>(rstd) >= kLow && static_cast<double>(rstd) <= kHigh;
}

// A row in long double, whose exponents reach far enough for squares of any double.
struct WideMoments {
  long double mean, variance, rstd;  // rstd of a constant row without eps: 0
};

template <class T>
HWY_NOINLINE WideMoments WideMomentsOf(const T* x, double eps, int64_t n, bool centred) {
  WideMoments w{0, 0, 0};
  if (centred) {
    for (int64_t i = 0; i < n; ++i) w.mean += static_cast<long double>(x[i]) - x[0];
    w.mean = x[0] + w.mean / static_cast<long double>(n);
  }
  for (int64_t i = 0; i < n; ++i) w.variance += (x[i] - w.mean) * (x[i] - w.mean);
  w.variance /= static_cast<long double>(n);
  const long double power = w.variance + static_cast<long double>(eps);
  w.rstd = power == 0 ? 0 : 1 / std::sqrt(power);
  return w;
}

template <class T>
HWY_NOINLINE WideMoments WideRow(const T* x, const T* gamma, const T* beta, double eps, T* y,
                                 int64_t n, bool centred) {
  const WideMoments w = WideMomentsOf(x, eps, n, centred);
  for (int64_t i = 0; i < n; ++i) {
    const long double v = (x[i] - w.mean) * w.rstd * (gamma == nullptr ? T(1) : gamma[i]);
    y[i] = static_cast<T>(v + (beta == nullptr ? T(0) : beta[i]));
  }
  return w;
}

template <class T>
HWY_NOINLINE void WideBackwardRow(const T* x, const T* gamma, double eps, const T* gy, T* gx,
                                  T* ggamma, T* gbeta, int64_t n, bool centred) {
  const WideMoments w = WideMomentsOf(x, eps, n, centred);
  const auto up = [&](int64_t i) {
    return static_cast<long double>(gy[i]) * (gamma == nullptr ? T(1) : gamma[i]);
  };
  const auto xhat = [&](int64_t i) { return (x[i] - w.mean) * w.rstd; };
  long double g = 0, slope = 0;
  for (int64_t i = 0; i < n; ++i) g += up(i), slope += up(i) * xhat(i);
  g = centred ? g / static_cast<long double>(n) : 0;
  slope /= static_cast<long double>(n);
  for (int64_t i = 0; i < n; ++i) {
    if (ggamma != nullptr) ggamma[i] += static_cast<T>(gy[i] * xhat(i));
    if (gbeta != nullptr) gbeta[i] += gy[i];
    if (gx != nullptr) gx[i] = static_cast<T>(w.rstd * (up(i) - g - xhat(i) * slope));
  }
}

template <bool kStream, class T>
HWY_INLINE void LayerNormRows(const T* x, const T* gamma, const T* beta, double eps, T* y,
                              const RowStatistics<T>& out, int64_t rows, int64_t n, bool centred) {
  if (n == 0) return;
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T origin = centred ? x[0] : T(0);
    const Moments moments = MomentsOf(x, n, centred);
    double mean = static_cast<double>(origin) + moments.mean;
    double variance = moments.variance;
    double scale = 1 / std::sqrt(variance + eps);
    const bool usual = InRange<T>(variance + eps);
    if (!usual) {
      const WideMoments w = WideRow(x, gamma, beta, eps, y, n, centred);
      mean = static_cast<double>(w.mean), variance = static_cast<double>(w.variance);
      scale = static_cast<double>(w.rstd);
    }
    const T m = static_cast<T>(moments.mean);
    const T s = static_cast<T>(scale);
    if (out.mean != nullptr) out.mean[r] = static_cast<T>(mean);
    if (out.rstd != nullptr) out.rstd[r] = s;
    if (out.variance != nullptr) out.variance[r] = static_cast<T>(variance);
    if (!usual) continue;
    if (gamma != nullptr && beta != nullptr) {
      Normalise<true, true, kStream>(x, gamma, beta, origin, m, s, y, n);
    } else if (gamma != nullptr) {
      Normalise<true, false, kStream>(x, gamma, beta, origin, m, s, y, n);
    } else if (beta != nullptr) {
      Normalise<false, true, kStream>(x, gamma, beta, origin, m, s, y, n);
    } else {
      Normalise<false, false, kStream>(x, gamma, beta, origin, m, s, y, n);
    }
  }
}

template <class T>
HWY_INLINE void LayerNorm(const T* x, const T* gamma, const T* beta, double eps, T* y,
                          const RowStatistics<T>& out, int64_t rows, int64_t n, bool centred,
                          bool stream) {
  if (stream && CanStream(y, n)) {
    LayerNormRows<true>(x, gamma, beta, eps, y, out, rows, n, centred);
    hwy::FlushStream();
  } else {
    LayerNormRows<false>(x, gamma, beta, eps, y, out, rows, n, centred);
  }
}

// What backward needs to know of one row before it can write gx.
template <class T>
struct RowFacts {
  T mean, rstd;
  T centre;  // mean of (x - mean) rstd
  T offset;  // rstd mean(g)
  T slope;   // rstd mean(g xhat)
};

// Sums of g, g s and s in one pass, where s = x - mean. Compiled once, not into each of its
// callers.
template <bool kGamma, class T>
HWY_NOINLINE RowFacts<T> Measure(const T* x, const T* gamma, const T* gy, T mean, T rstd, int64_t n,
                                 bool centred) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t block = 32 * lanes;
  const auto body = [&](V& g_sum, V& gs_sum, V& s_sum, int64_t i, const auto& memory) HWY_ATTR {
    const auto s = hn::Sub(memory.Load(d, x + i, mean), hn::Set(d, mean));
    auto g = memory.Load(d, gy + i);
    if constexpr (kGamma) g = hn::Mul(g, memory.Load(d, gamma + i));
    g_sum = hn::Add(g_sum, g);
    gs_sum = hn::MulAdd(g, s, gs_sum);
    s_sum = hn::Add(s_sum, s);
  };
  double g = 0, gs = 0, s = 0;
  for (int64_t i = 0; i < n;) {
    const int64_t end = n - i < block ? n : i + block;
    V g0 = hn::Zero(d), gs0 = g0, s0 = g0, g1 = g0, gs1 = g0, s1 = g0;
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      body(g0, gs0, s0, i, Whole());
      body(g1, gs1, s1, i + lanes, Whole());
    }
    for (; i + lanes <= end; i += lanes) body(g0, gs0, s0, i, Whole());
    if (i < end) body(g1, gs1, s1, i, Partial{static_cast<size_t>(end - i)});
    i = end;
    g += ReduceSum(d, hn::Add(g0, g1));
    gs += ReduceSum(d, hn::Add(gs0, gs1));
    s += ReduceSum(d, hn::Add(s0, s1));
  }
  const double scale = static_cast<double>(rstd), count = static_cast<double>(n);
  if (!centred) {
    return {T(0), rstd, T(0), T(0), static_cast<T>(scale * (scale * gs / count))};
  }
  const double centre = scale * s / count;
  const double slope = (scale * gs - centre * g) / count;
  return {mean, rstd, static_cast<T>(centre), static_cast<T>(scale * g / count),
          static_cast<T>(scale * slope)};
}

// kRows rows at once, so that gamma, ggamma and gbeta are touched once for all of them.
// kGx, kParam: whether gx, and whether ggamma and gbeta, are wanted.
template <int kRows, bool kGamma, bool kGx, bool kParam, bool kStream, class T>
HWY_INLINE void BackwardBlock(const T* x, const T* gamma, const T* mean, const T* rstd, const T* gy,
                              T* gx, T* ggamma, T* gbeta, int64_t n, bool centred) {
  RowFacts<T> rows[kRows];
  for (int r = 0; r < kRows; ++r) {
    rows[r] = Measure<kGamma>(x + r * n, gamma, gy + r * n, mean[r], rstd[r], n, centred);
  }
  ForRow<T, kStream>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
    using V = hn::Vec<decltype(d)>;
    V scale = hn::Zero(d), gamma_sum = scale, beta_sum = scale;
    if constexpr (kGamma) scale = memory.Load(d, gamma + i);
    if constexpr (kParam) gamma_sum = memory.Load(d, ggamma + i);
    if constexpr (kParam) beta_sum = memory.Load(d, gbeta + i);
    const auto one_row = [&](const RowFacts<T>& row, int64_t at) HWY_ATTR {
      const auto s = hn::Sub(memory.Load(d, x + at), hn::Set(d, row.mean));
      const auto xhat = hn::MulSub(s, hn::Set(d, row.rstd), hn::Set(d, row.centre));
      const auto up = memory.Load(d, gy + at);
      if constexpr (kGx) {
        auto g = up;
        if constexpr (kGamma) g = hn::Mul(up, scale);
        const auto v = hn::MulAdd(xhat, hn::Set(d, row.slope), hn::Set(d, row.offset));
        memory.StoreOut(d, hn::MulSub(g, hn::Set(d, row.rstd), v), gx + at);
      }
      if constexpr (kParam) {
        gamma_sum = hn::MulAdd(up, xhat, gamma_sum);
        beta_sum = hn::Add(up, beta_sum);
      }
    };
    one_row(rows[0], i);
    if constexpr (kRows == 4) {
      one_row(rows[1], i + n);
      one_row(rows[2], i + 2 * n);
      one_row(rows[3], i + 3 * n);
    }
    if constexpr (kParam) memory.Store(d, gamma_sum, ggamma + i);
    if constexpr (kParam) memory.Store(d, beta_sum, gbeta + i);
  });
}

template <bool kGamma, bool kGx, bool kParam, bool kStream, class T>
HWY_INLINE void BackwardRows(const LayerNormInputs<T>& in, const T* gy, T* gx, T* ggamma, T* gbeta,
                             int64_t rows, int64_t n) {
  const auto block = [&](auto count, int64_t r) HWY_ATTR {
    BackwardBlock<decltype(count)::value, kGamma, kGx, kParam, kStream>(
        in.x + r * n, in.gamma, in.mean + r, in.rstd + r, gy + r * n, kGx ? gx + r * n : gx, ggamma,
        gbeta, n, in.centred);
  };
  // Four rows of x and gy are read twice and must stay in the first-level cache between.
  const bool together = n * static_cast<int64_t>(sizeof(T)) <= 4096;
  // The gradient of a lone element is exactly 0, which the fast path would round.
  const auto usual = [&](int64_t r) { return n > 1 && ScaleInRange(in.rstd[r]); };
  for (int64_t r = 0; r < rows;) {
    if (together && r + 4 <= rows && usual(r) && usual(r + 1) && usual(r + 2) && usual(r + 3)) {
      block(std::integral_constant<int, 4>(), r);
      r += 4;
      continue;
    }
    if (usual(r)) {
      block(std::integral_constant<int, 1>(), r);
    } else {
      WideBackwardRow(in.x + r * n, in.gamma, in.eps, gy + r * n, kGx ? gx + r * n : gx, ggamma,
                      gbeta, n, in.centred);
    }
    ++r;
  }
}

template <bool kGamma, class T>
HWY_INLINE void LayerNormBackward(const LayerNormInputs<T>& in, const T* gy, T* gx, T* ggamma,
                                  T* gbeta, int64_t rows, int64_t n, bool stream) {
  const bool param = ggamma != nullptr && gbeta != nullptr;
  if (gx != nullptr && param && stream && CanStream(gx, n)) {
    BackwardRows<kGamma, true, true, true>(in, gy, gx, ggamma, gbeta, rows, n);
    hwy::FlushStream();
  } else if (gx != nullptr && param) {
    BackwardRows<kGamma, true, true, false>(in, gy, gx, ggamma, gbeta, rows, n);
  } else if (gx != nullptr) {
    BackwardRows<kGamma, true, false, false>(in, gy, gx, ggamma, gbeta, rows, n);
  } else if (param) {
    BackwardRows<kGamma, false, true, false>(in, gy, gx, ggamma, gbeta, rows, n);
  }
}

template <class T>
HWY_INLINE void LayerNormBackwardRows(const LayerNormInputs<T>& in, const T* gy, T* gx, T* ggamma,
                                      T* gbeta, int64_t rows, int64_t n, bool stream) {
  if (in.gamma != nullptr) {
    LayerNormBackward<true>(in, gy, gx, ggamma, gbeta, rows, n, stream);
  } else {
    LayerNormBackward<false>(in, gy, gx, ggamma, gbeta, rows, n, stream);
  }
}

#define FOVEA_LAYER_NORM(suffix, T)                                                           \
  void LayerNorm##suffix(const T* x, const T* gamma, const T* beta, double eps, T* y,         \
                         const RowStatistics<T>& out, int64_t rows, int64_t n, bool centred,  \
                         bool stream) {                                                       \
    LayerNorm(x, gamma, beta, eps, y, out, rows, n, centred, stream);                         \
  }                                                                                           \
  void LayerNormBackward##suffix(const LayerNormInputs<T>& in, const T* gy, T* gx, T* ggamma, \
                                 T* gbeta, int64_t rows, int64_t n, bool stream) {            \
    LayerNormBackwardRows(in, gy, gx, ggamma, gbeta, rows, n, stream);                        \
  }
FOVEA_LAYER_NORM(F32, float)
FOVEA_LAYER_NORM(F64, double)
#undef FOVEA_LAYER_NORM

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

#define FOVEA_LAYER_NORM(suffix, T)                                                              \
  HWY_EXPORT(LayerNorm##suffix);                                                                 \
  HWY_EXPORT(LayerNormBackward##suffix);                                                         \
  void layer_norm_rows(const T* x, const T* gamma, const T* beta, double eps, T* y,              \
                       const RowStatistics<T>& out, int64_t rows, int64_t n, bool centred,       \
                       bool stream) {                                                            \
    HWY_DYNAMIC_DISPATCH(LayerNorm##suffix)                                                      \
    (x, gamma, beta, eps, y, out, rows, n, centred, stream);                                     \
  }                                                                                              \
  void layer_norm_backward_rows(const LayerNormInputs<T>& in, const T* gy, T* gx, T* ggamma,     \
                                T* gbeta, int64_t rows, int64_t n, bool stream) {                \
    HWY_DYNAMIC_DISPATCH(LayerNormBackward##suffix)(in, gy, gx, ggamma, gbeta, rows, n, stream); \
  }
FOVEA_LAYER_NORM(F32, float)
FOVEA_LAYER_NORM(F64, double)
#undef FOVEA_LAYER_NORM

}  // namespace fovea::kernels
#endif  // HWY_ONCE
