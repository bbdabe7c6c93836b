#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/core/engine.h"
#include "fovea/ops/ops.h"
#include "tests/properties/arbitrary.h"

namespace fovea::properties {
namespace {

using cases::build;
using cases::fold;
using cases::to_naive;
using cases::Values1d;

// A random subset of the axes, some counted from the end; an empty one means all.
std::vector<int64_t> any_axes(int rank) {
  std::vector<int64_t> axes;
  for (int d = 0; d < rank; ++d) {
    if (draw(0, 1)) axes.push_back(draw(0, 1) ? d : d - rank);
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

// The shape with the reduced axes kept as 1.
Shape kept(const Shape& shape, const std::vector<int64_t>& axes) {
  Shape s = shape;
  for (int d = 0; d < s.rank(); ++d) {
    const bool gone = axes.empty() || std::any_of(axes.begin(), axes.end(), [&](int64_t a) {
                        return a == d || a == d - s.rank();
                      });
    if (gone) s[d] = 1;
  }
  return s;
}

RC_GTEST_PROP(Properties, SumsAndMeans, ()) {
  const Tensor x = any_tensor(any_shape());
  const auto axes = any_axes(x.dim());
  const bool keep = draw(0, 1);
  const bool average = draw(0, 1) && x.numel() > 0;
  const Tensor y = average ? mean(x, Axes(axes), keep) : sum(x, Axes(axes), keep);
  require_equal(y,
                fold(to_naive(x), axes, keep,
                     [&](const Values1d& v) {
                       const double s = std::accumulate(v.begin(), v.end(), 0.0);
                       return average ? s / static_cast<double>(v.size()) : s;
                     }),
                "value");
  const Tensor w = weights(y.shape());
  const NaiveTensor back{kept(x.shape(), axes), to_naive(w).data};
  const double share =
      average ? static_cast<double>(y.numel()) / static_cast<double>(x.numel()) : 1;
  require_equal(grad(y, {x}, {.create_graph = draw(0, 1) == 1, .upstream = w})[0],
                build(x.shape(), [&](const Shape& i) { return back.at(i) * share; }), "gradient");
}

RC_GTEST_PROP(Properties, ExtremesShareTheirGradient, ()) {
  Tensor x = any_tensor(any_shape(1)).detach();
  if (draw(0, 1)) x = round(x);  // ties
  x = x.detach().requires_grad_();
  if (x.numel() == 0) return;
  const auto axes = any_axes(x.dim());
  const bool low = draw(0, 1);
  const Tensor y = low ? amin(x, Axes(axes), true) : amax(x, Axes(axes), true);
  const NaiveTensor nx = to_naive(x);
  const NaiveTensor best = fold(nx, axes, true, [low](const Values1d& v) {
    return low ? *std::min_element(v.begin(), v.end()) : *std::max_element(v.begin(), v.end());
  });
  require_equal(y, best, "value");
  const Tensor w = weights(y.shape());
  const NaiveTensor nw = to_naive(w);
  NaiveTensor ties = cases::filled(y.shape(), 0);
  cases::each_index(x.shape(), [&](const Shape& i) { ties.at(i) += nx.at(i) == best.at(i); });
  require_equal(
      grad(y, {x}, {.create_graph = draw(0, 1) == 1, .upstream = w})[0],
      build(x.shape(),
            [&](const Shape& i) { return nx.at(i) == best.at(i) ? nw.at(i) / ties.at(i) : 0.0; }),
      "gradient");
}

RC_GTEST_PROP(Properties, SoftmaxIsADistributionAndIgnoresShifts, ()) {
  const Tensor x = any_tensor(any_shape(1)).detach();
  const int64_t axis = draw(-x.dim(), x.dim() - 1);
  const Tensor p = softmax(x, axis);
  if (x.numel() == 0) return;
  RC_ASSERT(allclose(sum(p, Axes(axis)), ones_like(sum(p, Axes(axis))), 1e-12, 1e-12));
  RC_ASSERT(allclose(softmax(x + 1000, axis), p, 1e-9, 1e-9));
  RC_ASSERT(allclose(log(p), log_softmax(x, axis), 1e-9, 1e-9));
  RC_ASSERT(allclose(x - logsumexp(x, Axes(axis), true), log_softmax(x, axis), 1e-9, 1e-9));
}

RC_GTEST_PROP(Properties, CumsumEndsInTheSum, ()) {
  const Tensor x = any_tensor(any_shape(1)).detach();
  const int64_t axis = draw(-x.dim(), x.dim() - 1);
  const Tensor c = cumsum(x, axis);
  RC_ASSERT(c.shape() == x.shape());
  if (x.numel() == 0) return;
  RC_ASSERT(allclose(select(c, axis, -1), sum(x, Axes(axis)), 1e-12, 1e-12));
}

RC_GTEST_PROP(Properties, VarianceIsTheMeanSquaredDeviation, ()) {
  const Tensor x = any_tensor(any_shape(1)).detach();
  if (x.numel() == 0) return;
  const auto axes = any_axes(x.dim());
  const Tensor d = x - mean(x, Axes(axes), true);
  RC_ASSERT(allclose(var(x, Axes(axes), 0, true), mean(square(d), Axes(axes), true), 1e-10, 1e-12));
}

}  // namespace
}  // namespace fovea::properties
