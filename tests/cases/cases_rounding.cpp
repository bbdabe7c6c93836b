// Small inputs on which float32 lost digits, or NaN a gradient, elsewhere and here before.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/ops/functional.h"
#include "fovea/ops/ops.h"
#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::kNan;

// The remainder of a division whose quotient has more digits than a float.
TEST(Cases, RemaindersAreExact) {
  const auto rest = [](double a, double b, DType t) {
    return remainder(full({}, a, t), full({}, b, t)).item();
  };
  EXPECT_NEAR(rest(1e5, 6.2831855, f32), 3.10305, 1e-5);
  EXPECT_NEAR(rest(3e6, 6.2831855, f32), 5.12701, 1e-5);
  for (DType t : {f32, f64}) {
    EXPECT_EQ(rest(5, INFINITY, t), 5);
    EXPECT_EQ(rest(-7, 3, t), 2);
    EXPECT_EQ(rest(7, -3, t), -2);
    const Tensor a = uniform({10000}, -1e4, 1e4, t), b = full({}, 6.2831855, t);
    const Tensor r = remainder(a, b);
    EXPECT_TRUE(all(r >= 0) && all(r < b));
  }
  EXPECT_EQ(rest(1e17, 3, f64), 1);
}

// The loss of a confident and right answer is small, not 0.
TEST(Cases, ConfidentBinaryCrossEntropyKeepsItsDigits) {
  for (double x : {0.0, 0.5, 5.0, 8.0, 12.0, 15.0, 40.0}) {
    for (double side : {1.0, -1.0}) {
      const Tensor logit = full({1}, side * x, f32).requires_grad_();
      const Tensor loss =
          binary_cross_entropy_with_logits(logit, full({1}, side > 0, f32), Reduction::sum);
      const double want = std::log1p(std::exp(-x));
      EXPECT_NEAR(loss.item(), want, 1e-6 * want) << side * x;
      const double slope = -side / (1 + std::exp(x));
      EXPECT_NEAR(grad(loss, {logit})[0].item(), slope, 2e-6 * std::fabs(slope)) << side * x;
    }
  }
}

// NaN is the extreme of what holds one, and takes the gradient.
TEST(Cases, NaNTakesTheGradientOfExtremes) {
  const Tensor x = tensor({kNan, 1.0, kNan}, f64).requires_grad_();
  for (const auto& f : {amax, amin}) {
    const Tensor y = f(x, {}, false);
    EXPECT_TRUE(std::isnan(y.item()));
    EXPECT_EQ(grad(y, {x})[0].to_vector(), (std::vector<double>{.5, 0, .5}));
  }
  const Tensor a = tensor({kNan, 1.0, kNan, 2.0}, f64).requires_grad_();
  const Tensor b = tensor({1.0, kNan, kNan, 2.0}, f64).requires_grad_();
  for (const auto& f : {maximum, minimum}) {
    const Tensors g = grad(sum(f(a, b)), {a, b});
    EXPECT_EQ(g[0].to_vector(), (std::vector<double>{1, 0, .5, .5}));
    EXPECT_EQ(g[1].to_vector(), (std::vector<double>{0, 1, .5, .5}));
  }
}

// More pixels than a float can count.
TEST(Cases, LargeImagesAreSampledWhereAsked) {
  const int64_t n = 4200;
  const Tensor x = zeros({1, 1, n, n});
  x.select(2, n - 2).select(2, n - 3).fill_(7);
  const auto at = [&](int64_t i) { return 2.0 * static_cast<double>(i) / (n - 1) - 1; };
  const Tensor grid = tensor({{{{at(n - 3), at(n - 2)}}}}, f32);
  EXPECT_NEAR(grid_sample(x, grid, true).item(), 7, 0.02);
}

TEST(Cases, PowersOfIntegersAreIntegers) {
  const Tensor y = pow(tensor({3, -2, 0, 7}), tensor({20, 3, 0, 1}));
  EXPECT_EQ(y.dtype(), i64);
  EXPECT_EQ(y.to_vector<int64_t>(), (std::vector<int64_t>{3486784401, -8, 1, 7}));
  EXPECT_EQ(pow(tensor({2, 3}), 2).dtype(), pow(tensor({2, 3}), 3).dtype());
  EXPECT_EQ(pow(tensor({4}), 0.5).item(), 2);
  EXPECT_THROW((void)pow(tensor({2}), -1), ValueError);
}

// What is computed again must be what was computed.
TEST(Cases, ACheckpointThatChangesIsNoticed) {
  const Tensor x = ones({100}, f64).requires_grad_();
  const Tensor good = checkpoint([](const Tensors& a) { return dropout(a[0], .5); }, {x});
  EXPECT_TRUE(equal(grad(sum(good), {x})[0], good.detach()));
  Generator own(3);
  const Tensor bad =
      checkpoint([&](const Tensors& a) { return dropout(a[0], .5, true, &own); }, {x});
  EXPECT_THROW(sum(bad).backward(), GraphError);
  EXPECT_FALSE(x.grad().defined());
}

TEST(Cases, HuberFarOut) {
  const Tensor x = tensor({1e30, -INFINITY, 0.25, 3.0}, f64).requires_grad_();
  const Tensor loss = huber_loss(x, zeros({4}, f64), 2, Reduction::none);
  EXPECT_EQ(loss.to_vector(), (std::vector<double>{2e30, INFINITY, 0.03125, 4}));
  EXPECT_EQ(grad(sum(loss), {x})[0].to_vector(), (std::vector<double>{2, -2, 0.25, 2}));
}

}  // namespace
}  // namespace fovea
