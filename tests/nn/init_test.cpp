#include "fovea/nn/init.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/core/parallel.h"
#include "fovea/ops/ops.h"

namespace {

using namespace fovea;

double phi(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// std of a (300, 200) weight against `want`; the standard error is want / sqrt(2 n) = 0.3 %.
void expect_std(const Tensor& t, double want) {
  EXPECT_NEAR(mean(t).item(), 0, 0.02 * want);
  EXPECT_NEAR(t.std().item(), want, 0.02 * want);
}

TEST(Init, FillsInPlaceOutsideTheGraph) {
  const Tensor w = Tensor::empty({3, 4});
  w.requires_grad_();
  const uint32_t version = w.version();
  EXPECT_TRUE(init::uniform_(w, 2, 3).same_as(w));
  EXPECT_TRUE(w.is_leaf());
  EXPECT_GT(w.version(), version);
  EXPECT_GE(min(w).item(), 2);
  EXPECT_LT(max(w).item(), 3);
  EXPECT_EQ(sum(init::ones_(w)).item(), 12);
  EXPECT_EQ(sum(init::zeros_(w)).item(), 0);
  EXPECT_EQ(sum(init::constant_(w, 0.5)).item(), 6);
  EXPECT_THROW(init::normal_(zeros({2}, i64)), DTypeError);
  EXPECT_THROW(init::xavier_normal_(zeros({2})), ShapeError);
  EXPECT_THROW(init::uniform_(Tensor()), ShapeError);
}

TEST(Init, WritesThroughViews) {
  const Tensor w = zeros({3, 4});
  init::ones_(w.t()[1]);  // a column
  EXPECT_EQ(sum(w).item(), 3);
  init::normal_(w.t());
  EXPECT_EQ(sum(eq(w, 0)).item<int64_t>(), 0);
}

TEST(Init, CountsFansAsPyTorch) {
  const init::Fans f = init::fans(zeros({8, 3, 5, 7}));
  EXPECT_EQ(f.in, 3 * 35);
  EXPECT_EQ(f.out, 8 * 35);
}

TEST(Init, KnowsGains) {
  using init::gain;
  using init::Nonlinearity;
  EXPECT_EQ(gain(Nonlinearity::linear), 1);
  EXPECT_EQ(gain(Nonlinearity::sigmoid), 1);
  EXPECT_DOUBLE_EQ(gain(Nonlinearity::tanh), 5.0 / 3);
  EXPECT_DOUBLE_EQ(gain(Nonlinearity::relu), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(gain(Nonlinearity::leaky_relu, 1), 1);
  EXPECT_DOUBLE_EQ(gain(Nonlinearity::selu), 0.75);
}

TEST(Init, ScalesByFans) {
  const Tensor w = zeros({300, 200}, f64);
  expect_std(init::normal_(w, 0, 3), 3);
  expect_std(init::xavier_normal_(w), std::sqrt(2.0 / 500));
  expect_std(init::xavier_uniform_(w, 2), 2 * std::sqrt(2.0 / 500));
  EXPECT_LE(max(abs(w)).item(), 2 * std::sqrt(6.0 / 500));
  expect_std(init::kaiming_normal_(w), std::sqrt(2.0 / 200));
  expect_std(init::kaiming_normal_(w, {.mode = init::Fan::out}), std::sqrt(2.0 / 300));
  expect_std(init::kaiming_uniform_(w, {.nonlinearity = init::Nonlinearity::tanh}),
             5.0 / 3 / std::sqrt(200.0));
  expect_std(init::kaiming_uniform_(w, {.a = std::sqrt(5.0)}), 1 / std::sqrt(3.0 * 200));
}

TEST(Init, TruncatedNormalStaysInsideAndHasItsMoments) {
  const Tensor w = zeros({100000}, f64);
  init::trunc_normal_(w);
  EXPECT_GE(min(w).item(), -2);
  EXPECT_LE(max(w).item(), 2);
  // var = 1 - 2 a pdf(a) / (2 cdf(a) - 1) for [-a, a]
  const double pdf = std::exp(-2.0) / std::sqrt(2 * std::acos(-1.0));
  EXPECT_NEAR(var(w).item(), 1 - 4 * pdf / (2 * phi(2) - 1), 0.01);
  // Far in the upper tail, where the distribution function rounds to 1.
  init::trunc_normal_(w, 0, 1, 9, 10);
  EXPECT_GE(min(w).item(), 9);
  EXPECT_LE(max(w).item(), 10);
  EXPECT_NEAR(mean(w).item(), 9.108456, 1e-3);  // (pdf(9) - pdf(10)) / (cdf(10) - cdf(9))
  EXPECT_THROW(init::trunc_normal_(w, 0, 0), ValueError);
  EXPECT_THROW(init::trunc_normal_(w, 0, 1, 2, 2), ValueError);
  EXPECT_THROW(init::trunc_normal_(w, 0, 1, 50, 60), ValueError);
}

TEST(Init, TruncatedNormalInvertsTheDistributionFunction) {
  // With wide limits the number is phi^-1(u): u comes back.
  const Tensor u = zeros({1000}, f64), x = zeros({1000}, f64);
  Generator g(5);
  const RandomKey key = g.state();
  init::uniform_(u, 0, 1, &g);
  g.set_state(key);
  init::trunc_normal_(x, 0, 1, -38, 38, &g);
  const auto us = u.to_vector(), xs = x.to_vector();
  for (size_t i = 0; i < us.size(); ++i) {
    const double back = phi(xs[i]);
    ASSERT_TRUE(std::fabs(back - us[i]) <= 1e-14) << us[i] << " " << back;
  }
}

TEST(Init, OrthogonalRowsOrColumns) {
  for (const Shape& shape : {Shape{40, 40}, Shape{20, 50}, Shape{50, 20}, Shape{6, 2, 3, 4}}) {
    const Tensor w = zeros(shape, f64);
    init::orthogonal_(w, 2);
    Tensor m = flatten(w, 1);
    if (m.size(0) > m.size(1)) m = m.t();
    const Tensor error = matmul(m, m.t()) - eye(m.size(0), f64) * 4;
    EXPECT_TRUE(max(abs(error)).item() <= 1e-13) << shape.str();
  }
}

TEST(Init, GivesTheSameBitsOnAnyNumberOfThreads) {
  const int before = threads();
  Tensors first;
  for (int n : {1, 2, 8}) {
    set_threads(n);
    manual_seed(11);
    Tensors all;
    for (int i = 0; i < 3; ++i) all.push_back(zeros({200, 300}));
    init::kaiming_uniform_(all[0]);
    init::orthogonal_(all[1]);
    init::trunc_normal_(all[2]);
    if (first.empty()) first = all;
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(equal(first[i], all[i])) << i;
  }
  set_threads(before);
}

}  // namespace
