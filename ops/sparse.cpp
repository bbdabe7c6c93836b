// Projections on the simplex that give exact zeros.            x, y, gy, gx: (..., N)
//
// sparsemax (Martins & Astudillo 2016)   y = max(x - t, 0) with t such that sum y = 1
//                                        gx = s (gy - mean of gy over the support), s = [y > 0]
// entmax15 (Peters, Niculae & Martins 2019), alpha = 1.5
//                                        y = max(x/2 - t, 0)^2 with t such that sum y = 1
//                                        gx = r (gy - sum(r gy) / sum r), r = sqrt(y)
// saves     y only. The support is piecewise constant, so the rules differentiate again.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "fovea/ops/internal.h"
#include "fovea/ops/rowwise.h"
#include "fovea/ops/sampling.h"

namespace fovea {
namespace {

// The threshold of one row, found on the sorted values: the largest k whose candidate t leaves the
// k-th value above it.
double sparsemax_threshold(const std::vector<double>& sorted) {
  double sum = 0;
  double t = 0;
  for (size_t k = 0; k < sorted.size(); ++k) {
    sum += sorted[k];
    const double candidate = (sum - 1) / static_cast<double>(k + 1);
    if (sorted[k] > candidate) t = candidate;
  }
  return t;
}

// With mean m and sum of squared deviations s of the first k values: t = m - sqrt((1 - s) / k).
double entmax15_threshold(const std::vector<double>& sorted) {
  double mean = 0;
  double squares = 0;
  double t = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const double k = static_cast<double>(i + 1);
    const double d = sorted[i] - mean;
    mean += d / k;
    squares += d * (sorted[i] - mean);
    const double rest = (1 - squares) / k;
    const double candidate = mean - std::sqrt(std::max(rest, 0.0));
    if (rest >= 0 && candidate <= sorted[i]) t = candidate;
  }
  return t;
}

template <class T, class Threshold, class Value>
void project_rows(const T* x, T* y, int64_t rows, int64_t n, double scale, Threshold threshold,
                  Value value) {
  std::vector<double> sorted(static_cast<size_t>(n));
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const double top = *std::max_element(x, x + n);
    bool finite = std::isfinite(top);
    for (int64_t i = 0; i < n; ++i) {
      sorted[i] = (x[i] - top) * scale;
      finite = finite && !std::isnan(x[i]);
    }
    if (!finite) {
      std::fill(y, y + n, std::numeric_limits<T>::quiet_NaN());
      continue;
    }
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const double t = threshold(sorted);
    for (int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<T>(value(std::max((x[i] - top) * scale - t, 0.0)));
    }
  }
}

Tensor sparsemax_vjp(const Tensor& y, const Tensor& gy) {
  const Tensor support = to(y.detach() > 0, y.dtype());
  return support * (gy - sum(support * gy, -1, keepdim) / sum(support, -1, keepdim));
}

Tensor entmax15_vjp(const Tensor& y, const Tensor& gy) {
  const Tensor r = sqrt(y);
  return r * (gy - sum(r * gy, -1, keepdim) / sum(r, -1, keepdim));
}

Tensor sparsemax_last(const Tensor& x) {
  Tensor y = detail::rowwise(x, [](const auto* in, auto* out, int64_t rows, int64_t n) {
    project_rows(in, out, rows, n, 1, sparsemax_threshold, [](double v) { return v; });
  });
  return record("sparsemax", y, {x}, {save_output(y)},
                [](const Saved& s, const Tensor& gy) { return sparsemax_vjp(s[0], gy); });
}

Tensor entmax15_last(const Tensor& x) {
  Tensor y = detail::rowwise(x, [](const auto* in, auto* out, int64_t rows, int64_t n) {
    project_rows(in, out, rows, n, 0.5, entmax15_threshold, [](double v) { return v * v; });
  });
  return record("entmax15", y, {x}, {save_output(y)},
                [](const Saved& s, const Tensor& gy) { return entmax15_vjp(s[0], gy); });
}

}  // namespace

Tensor sparsemax(const Tensor& x, int64_t axis) {
  return detail::along_last("sparsemax", x, axis, sparsemax_last);
}

Tensor entmax15(const Tensor& x, int64_t axis) {
  return detail::along_last("entmax15", x, axis, entmax15_last);
}

// y = softmax((x + G) / tau), G = -log(-log u); hard: the one-hot of its argmax in the forward
// pass, the gradient of y in the backward pass. Jang 2016; Maddison 2016.
Tensor gumbel_softmax(const Tensor& x, const Tensor& noise, double tau, bool hard, int64_t axis) {
  detail::check_floating("gumbel_softmax", "x", x);
  detail::check_floating("gumbel_softmax", "noise", noise);
  if (!(tau > 0) || !std::isfinite(tau)) {
    throw ValueError(fmt::format("gumbel_softmax: tau is {}; it must be positive and finite", tau));
  }
  if (!(broadcast_shapes("gumbel_softmax", x.shape(), noise.shape()) == x.shape())) {
    throw ShapeError(fmt::format("gumbel_softmax: x is {}, noise is {}; noise must broadcast to x",
                                 x.shape().str(), noise.shape().str()));
  }
  normalize_axis("gumbel_softmax", axis, x.dim());
  const Tensor soft = softmax((x + noise) / tau, axis);
  if (!hard || soft.numel() == 0) return soft;
  if (x.dim() == 0) return ones_like(soft) + (soft - soft.detach());
  const Tensor first = argmax(soft.detach(), axis, true);
  const Tensor hot = scatter_add(zeros_like(soft), axis, first, ones(first.shape(), soft.dtype()));
  return hot + (soft - soft.detach());
}

Tensor gumbel_softmax(const Tensor& x, double tau, bool hard, int64_t axis, Generator* g) {
  detail::check_floating("gumbel_softmax", "x", x);
  const Tensor noise = detail::gumbel_noise(rand(x.shape(), f64, g));
  return gumbel_softmax(x, to(noise, x.dtype()), tau, hard, axis);
}

// In double, where what lies nearest to 1 is far enough from it.
Tensor detail::gumbel_noise(const Tensor& u) {
  return neg(log(neg(log(clamp(to(u, f64), 0x1p-54, 1 - 0x1p-53)))));
}

}  // namespace fovea
