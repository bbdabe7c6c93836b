#include <gtest/gtest.h>

#include "fovea/core/engine.h"
#include "fovea/ops/ops.h"
#include "tests/properties/arbitrary.h"

namespace fovea::properties {
namespace {

using cases::build;
using cases::to_naive;
using cases::zip;

struct Rule {
  Tensor (*f)(const Tensor&, const Tensor&);
  double (*value)(double, double);
  double (*da)(double, double);
  double (*db)(double, double);
};

const Rule kRules[] = {
    {add, [](double a, double b) { return a + b; }, [](double, double) { return 1.0; },
     [](double, double) { return 1.0; }},
    {sub, [](double a, double b) { return a - b; }, [](double, double) { return 1.0; },
     [](double, double) { return -1.0; }},
    {mul, [](double a, double b) { return a * b; }, [](double, double b) { return b; },
     [](double a, double) { return a; }},
    {div, [](double a, double b) { return a / b; }, [](double, double b) { return 1 / b; },
     [](double a, double b) { return -a / (b * b); }},
    {maximum, [](double a, double b) { return a > b ? a : b; },
     [](double a, double b) { return a > b    ? 1.0
                                     : a == b ? 0.5
                                              : 0.0; },
     [](double a, double b) { return a < b    ? 1.0
                                     : a == b ? 0.5
                                              : 0.0; }},
};

RC_GTEST_PROP(Properties, BinaryOperationsBroadcast, ()) {
  const Shape whole = any_shape();
  Shape sa = broadcastable(whole), sb = whole;
  if (draw(0, 1)) std::swap(sa, sb);
  const Tensor a = any_tensor(sa), b = any_tensor(sb);
  const Rule& rule = kRules[draw(0, 4)];
  const Tensor y = rule.f(a, b);
  const NaiveTensor na = to_naive(a), nb = to_naive(b);
  require_equal(y, zip(na, nb, rule.value), "value");
  const Tensor w = weights(y.shape());
  const bool create = draw(0, 1);
  const Tensors g = grad(y, {a, b}, {.create_graph = create, .upstream = w});
  const NaiveTensor nw = to_naive(w);
  const auto rule_of = [&](double (*d)(double, double)) {
    return build(y.shape(), [&](const Shape& i) { return nw.at(i) * d(na.at(i), nb.at(i)); });
  };
  require_equal(g[0], summed_to(rule_of(rule.da), sa), "gradient of a");
  require_equal(g[1], summed_to(rule_of(rule.db), sb), "gradient of b");
}

RC_GTEST_PROP(Properties, ShapesThatDoNotBroadcastAreRefused, ()) {
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

RC_GTEST_PROP(Properties, WhereSplitsTheGradient, ()) {
  const Shape whole = any_shape();
  const Tensor a = any_tensor(broadcastable(whole)), b = any_tensor(whole);
  const Tensor c = any_tensor(broadcastable(whole)).detach() > 0;
  const Tensor y = where(c, a, b);
  const NaiveTensor na = to_naive(a), nb = to_naive(b), nc = to_naive(c);
  require_equal(y, build(y.shape(), [&](const Shape& i) { return nc.at(i) ? na.at(i) : nb.at(i); }),
                "value");
  const Tensor w = weights(y.shape());
  const NaiveTensor nw = to_naive(w);
  const Tensors g = grad(y, {a, b}, {.upstream = w});
  const auto part = [&](bool first) {
    return build(y.shape(),
                 [&](const Shape& i) { return (nc.at(i) != 0) == first ? nw.at(i) : 0.0; });
  };
  require_equal(g[0], summed_to(part(true), a.shape()), "gradient of a");
  require_equal(g[1], summed_to(part(false), b.shape()), "gradient of b");
}

RC_GTEST_PROP(Properties, InPlaceEqualsOutOfPlace, ()) {
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

}  // namespace
}  // namespace fovea::properties
