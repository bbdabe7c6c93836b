// Gradients of gradients, hooks and retained gradients.
#include <gtest/gtest.h>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "tests/core/counted_op.h"

namespace fovea {
namespace {

using testing::leaf;
using testing::with_gradient;

TEST(HigherOrder, TheThirdDerivativeOfAFourthPower) {
  const Tensor x = leaf(2);
  const GradOptions o{.create_graph = true};
  const Tensor y = x * x * x * x;
  const Tensor d1 = grad(y, {x}, o)[0];
  const Tensor d2 = grad(d1, {x}, o)[0];
  const Tensor d3 = grad(d2, {x}, o)[0];
  const Tensor d4 = grad(d3, {x}, o)[0];
  EXPECT_EQ(d1.item(), 32);
  EXPECT_EQ(d2.item(), 48);
  EXPECT_EQ(d3.item(), 48);
  EXPECT_EQ(d4.item(), 24);
  const Tensor p = pow(x, 4);
  EXPECT_NEAR(grad(grad(grad(p, {x}, o)[0], {x}, o)[0], {x})[0].item(), 48, 1e-12);
}

TEST(HigherOrder, BackwardWithCreateGraphRecordsGrad) {
  const Tensor x = leaf(3);
  (x * x * x).backward({}, true, true);
  ASSERT_TRUE(x.grad().requires_grad());
  const Tensor first = x.grad();
  x.zero_grad();
  first.backward();
  EXPECT_EQ(x.grad().item(), 18);
}

TEST(HigherOrder, AGradientPenalty) {
  // d/dw (d/dx (w x^2))^2 = 8 w x^2
  const Tensor x = leaf(2), w = leaf(3);
  const Tensor g = grad(w * x * x, {x}, {.create_graph = true})[0];
  (g * g).backward();
  EXPECT_EQ(w.grad().item(), 8 * 3 * 4);
}

TEST(HigherOrder, ThroughASavedOutput) {
  // The engine re-attaches the node of a saved output: exp, tanh, sigmoid, sqrt keep only that.
  const Tensor x = leaf(0.3);
  const GradOptions o{.create_graph = true};
  const auto third = [&](const Tensor& y) {
    return grad(grad(grad(y, {x}, o)[0], {x}, o)[0], {x})[0].item();
  };
  const double t = std::tanh(0.3), s = 1 / (1 + std::exp(-0.3));
  EXPECT_NEAR(third(exp(x)), std::exp(0.3), 1e-12);
  EXPECT_NEAR(third(tanh(x)), (1 - t * t) * (6 * t * t - 2), 1e-12);
  EXPECT_NEAR(third(sigmoid(x)), s * (1 - s) * (1 - 6 * s + 6 * s * s), 1e-12);
  EXPECT_NEAR(third(sqrt(x)), 0.375 * std::pow(0.3, -2.5), 1e-10);
}

TEST(HigherOrder, FirstOrderLeavesNothingRecorded) {
  const Tensor x = leaf(3);
  EXPECT_FALSE(grad(x * x, {x})[0].requires_grad());
  (x * x).backward();
  EXPECT_FALSE(x.grad().requires_grad());
}

TEST(HigherOrder, CreateGraphWorksInsideNoGradToo) {
  const Tensor x = leaf(3);
  const Tensor y = x * x * x;
  const NoGrad scope;
  const Tensor g = grad(y, {x}, {.create_graph = true})[0];
  EXPECT_TRUE(g.requires_grad());
  EXPECT_EQ(grad(g, {x})[0].item(), 18);
}

TEST(Hooks, SeeTheCompleteGradientOnce) {
  const Tensor x = leaf(2);
  const Tensor h = x * 3;
  std::vector<double> seen;
  h.register_hook([&](const Tensor& g) {
    seen.push_back(g.item());
    return Tensor();
  });
  (h * h + h).backward();
  EXPECT_EQ(seen, (std::vector<double>{13}));
  EXPECT_EQ(x.grad().item(), 39);
}

TEST(Hooks, MayReplaceTheGradientInTurn) {
  const Tensor x = leaf(2);
  x.register_hook([](const Tensor& g) { return g * 10; });
  x.register_hook([](const Tensor& g) { return g + 1; });
  (x * 3).backward();
  EXPECT_EQ(x.grad().item(), 31);
  EXPECT_EQ(grad(x * 3, {x})[0].item(), 31);
}

TEST(Hooks, MustKeepTheShape) {
  const Tensor x = leaf(2);
  x.register_hook([](const Tensor&) { return ones({2}, f64); });
  EXPECT_THROW((x * 3).backward(), ShapeError);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_THROW(full({}, 1).register_hook([](const Tensor& g) { return g; }), GraphError);
}

TEST(Hooks, CanBeDifferentiatedThrough) {
  const Tensor x = leaf(2);
  const Tensor h = x * x;
  h.register_hook([](const Tensor& g) { return g * g; });
  // y = h^2, h = x^2: dy/dh = 2h, squared 4h^2, times 2x. Its derivative reaches x directly, 8h^2,
  // and through h, where 8h 2x meets the hook again and is squared: (16 x^3)^2 2x.
  const Tensor g = grad(h * h, {x}, {.create_graph = true})[0];
  EXPECT_EQ(g.item(), 256);
  EXPECT_EQ(grad(g, {x})[0].item(), 128 + 128 * 128 * 4);
}

TEST(RetainGrad, KeepsTheGradientOfAnIntermediate) {
  const Tensor x = leaf(2);
  const Tensor h = x * 3;
  h.retain_grad();
  (h * h).backward();
  EXPECT_EQ(h.grad().item(), 12);
  EXPECT_EQ(x.grad().item(), 36);
  EXPECT_THROW(full({}, 1).retain_grad(), GraphError);
}

TEST(SetGrad, ChecksShapeAndType) {
  const Tensor x = ones({2}, f64).requires_grad_();
  EXPECT_THROW(x.set_grad(ones({3}, f64)), ShapeError);
  EXPECT_THROW(x.set_grad(ones({2}, f32)), ShapeError);
  x.set_grad(full({2}, 7, f64));
  sum(x).backward();
  EXPECT_EQ(x.grad().at({0}), 8);
}

TEST(Nested, GradInsideAHookOverTheSameNodes) {
  const Tensor x = leaf(2);
  const Tensor h = x * x;
  const Tensor y = h * h;  // x^4
  double inner = 0;
  h.register_hook([&](const Tensor& g) {
    // Walks x, h and y again while the outer call is at h.
    static thread_local bool busy = false;
    if (busy) return Tensor();
    busy = true;
    const EnableGrad on;
    inner = grad(h * 3, {x}, {.retain_graph = true})[0].item();
    const Tensor whole = grad(y, {x}, {.retain_graph = true})[0];
    busy = false;
    return g + whole * 0;
  });
  y.backward({}, true);
  EXPECT_EQ(inner, 12);
  EXPECT_EQ(x.grad().item(), 32);
}

TEST(Nested, BackwardInsideAVjp) {
  const Tensor x = leaf(3), w = leaf(5);
  const Tensor y = with_gradient(x, [&](const Tensor& g) {
    const EnableGrad on;
    (w * w).backward();
    return g * 2;
  });
  (y * x).backward();
  EXPECT_EQ(w.grad().item(), 10);
  EXPECT_EQ(x.grad().item(), 3 + 3 * 2);
}

// The same leaf inside and outside: both contributions arrive.
TEST(Nested, BackwardInsideAVjpIntoTheSameLeaf) {
  const Tensor x = leaf(3);
  const Tensor y = with_gradient(x * 1, [&](const Tensor& g) {
    const EnableGrad on;
    (x * x).backward();
    return g;
  });
  y.backward();
  EXPECT_EQ(x.grad().item(), 6 + 1);
}

}  // namespace
}  // namespace fovea
