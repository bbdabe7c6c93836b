// What must hold between several operations.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"
#include "tests/properties/arbitrary.h"

namespace fovea::properties {
namespace {

RC_GTEST_PROP(Laws, ShapesThatDoNotBroadcastAreRefused, ()) {
  const Shape a = any_shape(1), b = any_shape(1);
  bool fits = true;
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    const int64_t x = a[a.rank() - i], y = b[b.rank() - i];
    fits = fits && (x == y || x == 1 || y == 1);
  }
  if (fits) {
    (void)add(zeros(a), zeros(b));
  } else {
    RC_ASSERT_THROWS((void)add(zeros(a), zeros(b)));
    RC_ASSERT_THROWS((void)where(zeros(a, boolean), zeros(b), zeros(b)));
  }
}

RC_GTEST_PROP(Laws, InPlaceEqualsOutOfPlace, ()) {
  const Tensor x = any_tensor(any_shape()).detach().clone();
  const Tensor y = any_tensor(broadcastable(x.shape())).detach();
  const Tensor sum = x + y, product = (x + y) * y, last = (x + y) * y - 3;
  x.add_(y);
  RC_ASSERT(equal(x, sum));
  x.mul_(y);
  RC_ASSERT(equal(x, product));
  x.sub_(3);
  RC_ASSERT(equal(x, last));
}

RC_GTEST_PROP(Laws, ProductsAssociateWithTransposes, ()) {
  const auto side = [] { return chance(13) ? 0 : draw(1, 9); };
  const int64_t m = side(), k = side(), n = side();
  const Tensor a = any_tensor({m, k}).detach(), b = any_tensor({k, n}).detach();
  RC_ASSERT(allclose(matmul(a, b).t(), matmul(b.t(), a.t()), 1e-12, 1e-12));
  RC_ASSERT(allclose(linear(a, b.t()), matmul(a, b), 1e-12, 1e-12));
}

// Larger sizes, where tiles and flags matter, against the product of contiguous copies.
RC_GTEST_PROP(Laws, LayoutsOfLargeProductsDoNotMatter, ()) {
  const auto side = [] { return draw(1, 140); };
  const int64_t m = side(), k = side(), n = side();
  const Tensor a = any_tensor({m, k}).detach().to(f32), b = any_tensor({k, n}).detach().to(f32);
  const Tensor turned = a.t().contiguous().t();
  const Tensor wide = cat({b, b}, 1).slice(1, n / 2, n / 2 + n);
  RC_ASSERT(allclose(matmul(turned, b), matmul(a, b), 1e-5, 1e-4));
  RC_ASSERT(allclose(matmul(a, wide), matmul(a, wide.contiguous()), 1e-5, 1e-4));
}

RC_GTEST_PROP(Laws, SoftmaxIsADistributionAndIgnoresShifts, ()) {
  const Tensor x = any_tensor(any_shape(1)).detach();
  const int64_t axis = any_axis(x.dim());
  const Tensor p = softmax(x, axis);
  if (x.numel() == 0) return;
  RC_ASSERT(allclose(sum(p, Axes(axis)), ones_like(sum(p, Axes(axis))), 1e-12, 1e-12));
  RC_ASSERT(allclose(softmax(x + 1000, axis), p, 1e-9, 1e-9));
  RC_ASSERT(allclose(log(p), log_softmax(x, axis), 1e-9, 1e-9));
  RC_ASSERT(allclose(x - logsumexp(x, Axes(axis), true), log_softmax(x, axis), 1e-9, 1e-9));
}

RC_GTEST_PROP(Laws, CumsumEndsInTheSum, ()) {
  const Tensor x = any_tensor(any_shape(1)).detach();
  const int64_t axis = any_axis(x.dim());
  const Tensor c = cumsum(x, axis);
  RC_ASSERT(c.shape() == x.shape());
  if (x.numel() == 0) return;
  RC_ASSERT(allclose(select(c, axis, -1), sum(x, Axes(axis)), 1e-12, 1e-12));
}

RC_GTEST_PROP(Laws, VarianceIsTheMeanSquaredDeviation, ()) {
  const Tensor x = any_tensor(any_shape(1)).detach();
  if (x.numel() == 0) return;
  const auto axes = any_axes(x.dim());
  const Tensor d = x - mean(x, Axes(axes), true);
  RC_ASSERT(allclose(var(x, Axes(axes), 0, true), mean(square(d), Axes(axes), true), 1e-10, 1e-12));
}

RC_GTEST_PROP(Laws, SplittingAndJoiningAreInverse, ()) {
  const Tensor x = any_tensor(any_shape(1)).detach();
  const int64_t axis = any_axis(x.dim());
  RC_ASSERT(equal(cat(split(x, draw(1, 4), axis), axis), x));
  RC_ASSERT(equal(cat(chunk(x, draw(1, 4), axis), axis), x));
  if (x.size(axis) > 0) RC_ASSERT(equal(stack(unbind(x, axis), axis), x));
}

// <gather(x, i), y> = <x, scatter_add(0, i, y)>
RC_GTEST_PROP(Laws, GatherAndScatterAreAdjoint, ()) {
  const Tensor x = any_tensor(any_shape(1)).detach();
  const int64_t axis = draw(0, x.dim() - 1);
  Shape shape = x.shape();
  shape[static_cast<int>(axis)] = x.size(axis) == 0 ? 0 : draw(0, 6);
  const Tensor index = any_integers(shape, 0, std::max<int64_t>(1, x.size(axis)));
  const Tensor y = any_tensor(shape).detach();
  const double left = sum(gather(x, axis, index) * y).item();
  const double right = sum(x * scatter_add(zeros_like(x), axis, index, y)).item();
  RC_ASSERT(std::fabs(left - right) <= 1e-10 * (1 + std::fabs(left)));
}

RC_GTEST_PROP(Laws, RepeatIsAnExpandedCopy, ()) {
  const Tensor x = any_tensor(any_shape(1, 3)).detach();
  Shape times = x.shape();
  for (int64_t& t : times) t = draw(0, 3);
  const Tensor y = repeat(x, times);
  for (int d = 0; d < x.dim(); ++d) RC_ASSERT(y.size(d) == x.size(d) * times[d]);
  if (y.numel() == 0) return;
  Tensor z = x;
  for (int d = 0; d < x.dim(); ++d) z = cat(Tensors(static_cast<size_t>(times[d]), z), d);
  RC_ASSERT(equal(y, z));
}

}  // namespace
}  // namespace fovea::properties
