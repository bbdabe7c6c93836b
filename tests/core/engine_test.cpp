// How gradients flow through graphs of every form.
#include "fovea/core/engine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/core/error.h"
#include "tests/core/counted_op.h"

namespace fovea {
namespace {

using testing::leaf;
using testing::message_of;
using testing::traced;
using testing::with_gradient;

TEST(Engine, TheChainRule) {
  const Tensor x = leaf(0.5);
  const Tensor y = exp(sin(x * 2));
  y.backward();
  EXPECT_NEAR(x.grad().item(), std::exp(std::sin(1.0)) * std::cos(1.0) * 2, 1e-12);
  EXPECT_FALSE(y.grad().defined()) << "only leaves collect";
}

TEST(Engine, ANodeIsVisitedOnceAfterAllItsConsumers) {
  std::vector<std::string> log;
  const Tensor x = leaf(1);
  const Tensor a = traced(x, log, "a");
  const Tensor b = traced(a, log, "b");
  const Tensor c = traced(a + b, log, "c");
  const Tensor d = traced(a * c, log, "d");
  (d + b + a).backward();
  ASSERT_EQ(log.size(), 4u);
  const auto at = [&](const char* tag) {
    return std::find(log.begin(), log.end(), tag) - log.begin();
  };
  EXPECT_LT(at("d"), at("c"));
  EXPECT_LT(at("c"), at("b"));
  EXPECT_LT(at("b"), at("a"));
}

// A path of one edge and a path of many from the same root: the long one has to be waited for.
TEST(Engine, AShortCutWaitsForTheLongWay) {
  std::vector<std::string> log;
  const Tensor x = leaf(2);
  const Tensor h = traced(x, log, "h");
  Tensor way = h;
  for (int i = 0; i < 50; ++i) way = way + h;
  (way * h).backward();  // 51 h^2
  EXPECT_EQ(log.size(), 1u);
  EXPECT_EQ(x.grad().item(), 2 * 51 * 2);
}

TEST(Engine, TheOrderDoesNotDependOnAddresses) {
  std::vector<std::vector<std::string>> logs(8);
  std::vector<std::vector<Tensor>> clutter;  // moves later allocations
  for (auto& log : logs) {
    clutter.emplace_back();
    for (size_t i = 0; i < clutter.size() * 3; ++i) clutter.back().push_back(leaf(1));
    const Tensor x = leaf(1);
    std::vector<Tensor> parts;
    for (const char* tag : {"p", "q", "r", "s"}) parts.push_back(traced(x, log, tag));
    sum(stack({parts[2], parts[0], parts[3], parts[1]})).backward();
  }
  for (const auto& log : logs) EXPECT_EQ(log, logs[0]);
}

TEST(Engine, BackwardAddsToWhatIsThere) {
  const Tensor x = leaf(3);
  (x * x).backward();
  (x * x).backward();
  EXPECT_EQ(x.grad().item(), 12);
  x.zero_grad();
  EXPECT_FALSE(x.grad().defined());
  (x * x).backward();
  EXPECT_EQ(x.grad().item(), 6);
}

// What was handed out earlier is the reader's own: the next backward must not change it by surprise
// in a half-way state, and never the tensors of the graph.
TEST(Engine, ALeafsGradientIsItsOwnMemory) {
  const Tensor x = ones({3}, f64).requires_grad_(), z = ones({3}, f64).requires_grad_();
  const Tensor up = tensor({1.0, 2.0, 3.0}, f64);
  (x + z).backward(up);  // one tensor reaches two leaves
  EXPECT_FALSE(x.grad().shares_storage(z.grad()));
  EXPECT_FALSE(x.grad().shares_storage(up));
  (x + z).backward(up);
  EXPECT_EQ(up.to_vector(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(z.grad().to_vector(), (std::vector<double>{2, 4, 6}));

  const Tensor w = ones({2, 3}, f64).requires_grad_();
  sum(w).backward();  // sum's gradient is expanded
  EXPECT_TRUE(w.grad().is_contiguous());
  w.grad().mul_(2);
  EXPECT_EQ(w.grad().to_vector(), std::vector<double>(6, 2));
  sum(w).backward();
  EXPECT_EQ(w.grad().to_vector(), std::vector<double>(6, 3));

  const Tensor m = ones({2, 3}, f64).requires_grad_();
  m.t().backward(ones({3, 2}, f64));
  EXPECT_TRUE(m.grad().is_contiguous());

  const Tensor a = ones({2, 3}, f64).requires_grad_(), b = ones({2, 3}, f64).requires_grad_();
  sum(a + b).backward({}, true, true);  // recorded
  EXPECT_TRUE(a.grad().is_contiguous());
  EXPECT_FALSE(a.grad().shares_storage(b.grad()));
}

TEST(Engine, XPlusXDoubles) {
  const Tensor x = ones({3}, f64).requires_grad_();
  sum(x + x).backward();
  EXPECT_EQ(x.grad().to_vector(), std::vector<double>(3, 2));
}

TEST(Engine, OnlyWhatRequiresAGradientGetsOne) {
  const Tensor x = leaf(2), c = full({}, 5, f64);
  const Tensor y = x * c;
  EXPECT_TRUE(y.requires_grad());
  EXPECT_FALSE((c * c).requires_grad());
  y.backward();
  EXPECT_FALSE(c.grad().defined());
  EXPECT_EQ(x.grad().item(), 5);
}

TEST(Engine, UpstreamMustFit) {
  const Tensor x = ones({2, 3}, f64).requires_grad_();
  EXPECT_NE(message_of<GraphError>([&] { (x * 2).backward(); }).find("[2, 3]"), std::string::npos);
  EXPECT_THROW((x * 2).backward(ones({3}, f64)), ShapeError);
  EXPECT_THROW((x * 2).backward(ones({2, 3}, f32)), ShapeError);
  (x * 2).backward(full({2, 3}, 10, f64));
  EXPECT_EQ(x.grad().at({1, 2}), 20);
}

TEST(Engine, NothingToDifferentiateIsAnError) {
  EXPECT_THROW(sum(ones({2})).backward(), GraphError);
  const Tensor x = leaf(1);
  Tensor y;
  {
    const NoGrad scope;
    y = x * 2;
  }
  EXPECT_THROW(y.backward(), GraphError);
  EXPECT_THROW((void)grad(x * 2, {full({}, 1, f64)}), GraphError);
}

TEST(Engine, RequiresGradCanBeTakenBackFromLeavesOnly) {
  const Tensor x = leaf(1);
  const Tensor y = x * 2;
  EXPECT_NE(message_of<GraphError>([&] { (void)y.requires_grad_(false); }).find("mul"),
            std::string::npos);
  x.requires_grad_(false);
  EXPECT_FALSE(x.requires_grad());
  EXPECT_FALSE((x * 2).requires_grad());
}

TEST(Grad, LeavesTheLeavesAlone) {
  const Tensor x = leaf(3), z = leaf(2);
  const Tensor h = x * z;
  const Tensors g = grad(h * h, {x, h, z});
  EXPECT_EQ(g[0].item(), 2 * 6 * 2);
  EXPECT_EQ(g[1].item(), 12);
  EXPECT_EQ(g[2].item(), 2 * 6 * 3);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(grad(x * 2, {}).empty());
}

TEST(Grad, SkipsWhatLeadsNowhere) {
  std::vector<std::string> log;
  const Tensor x = leaf(3), z = leaf(2);
  const Tensor y = traced(x, log, "x") * traced(z, log, "z");
  (void)grad(y, {x});
  EXPECT_EQ(log, (std::vector<std::string>{"x"}));
}

TEST(Grad, OfItselfIsOne) {
  const Tensor x = leaf(3);
  const Tensor y = x * 2;
  EXPECT_EQ(grad(y, {y})[0].item(), 1);
  EXPECT_EQ(grad(x, {x})[0].item(), 1);
}

TEST(Grad, UnusedInputs) {
  const Tensor x = leaf(3), z = leaf(2);
  const Tensor y = x * x;
  GradOptions o;
  o.retain_graph = true;
  EXPECT_NE(message_of<GraphError>([&] {
              (void)grad(y, {x, z}, o);
            }).find("input 1"),
            std::string::npos);
  o.allow_unused = true;
  const Tensors g = grad(y, {x, z}, o);
  EXPECT_EQ(g[0].item(), 6);
  EXPECT_FALSE(g[1].defined());
}

TEST(Engine, AnExceptionLeavesEveryGradientUntouched) {
  const Tensor early = leaf(1), late = leaf(2);
  early.set_grad(full({}, 40, f64));
  const Tensor broken = with_gradient(
      late, [](const Tensor&) -> Tensor { throw ValueError("with_gradient: on purpose"); });
  const Tensor y = early * 3 + broken;
  EXPECT_THROW(y.backward({}, true), ValueError);
  EXPECT_EQ(early.grad().item(), 40);
  EXPECT_FALSE(late.grad().defined());
  EXPECT_EQ(grad(y, {early}, {.retain_graph = true})[0].item(), 3) << "the graph is still usable";
  (early * 3).backward();
  EXPECT_EQ(early.grad().item(), 43);
}

TEST(Engine, AGradientOfTheWrongShapeIsRefused) {
  const Tensor x = ones({2, 3}, f64).requires_grad_();
  const Tensor y = with_gradient(x, [](const Tensor&) { return ones({4}, f64); });
  EXPECT_THROW(sum(y).backward(), ShapeError);
  EXPECT_FALSE(x.grad().defined());
}

// A vjp may return the broadcast shape, or a wider type: one place sums and converts.
TEST(Engine, GradientsAreFittedToTheInput) {
  const Tensor x = ones({3, 1}, f32).requires_grad_();
  const Tensor y = with_gradient(x, [](const Tensor&) { return ones({2, 3, 4}, f64); });
  sum(y).backward();
  EXPECT_EQ(x.grad().dtype(), f32);
  EXPECT_EQ(x.grad().shape(), (Shape{3, 1}));
  EXPECT_EQ(x.grad().at({0, 0}), 8);
}

TEST(Engine, AnUndefinedGradientMeansNone) {
  const Tensor x = leaf(1), z = leaf(2);
  (with_gradient(x, [](const Tensor&) { return Tensor(); }) + z).backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(z.grad().item(), 1);
}

TEST(Engine, NoGradAndEnableGrad) {
  const Tensor x = leaf(2);
  EXPECT_TRUE(grad_recording());
  {
    const NoGrad off;
    EXPECT_FALSE(grad_recording());
    EXPECT_FALSE((x * 2).requires_grad());
    {
      const EnableGrad on;
      EXPECT_TRUE((x * 2).requires_grad());
      const EnableGrad off_again(false);
      EXPECT_FALSE((x * 2).requires_grad());
    }
    EXPECT_FALSE(grad_recording());
  }
  EXPECT_TRUE(grad_recording());
  try {
    const NoGrad off;
    throw ValueError("x: y");
  } catch (const Error&) {
  }
  EXPECT_TRUE(grad_recording());
}

TEST(Engine, DetachCutsAndShares) {
  const Tensor x = leaf(3);
  const Tensor h = x * x;
  const Tensor d = h.detach();
  EXPECT_FALSE(d.requires_grad());
  EXPECT_TRUE(d.shares_storage(h));
  (h.detach() * x).backward();
  EXPECT_EQ(x.grad().item(), 9);
}

TEST(Engine, GradModeInsideAVjpSaysWhoIsAsking) {
  std::vector<bool> recording;
  const Tensor x = leaf(3);
  const auto y = [&] {
    return with_gradient(x, [&](const Tensor& g) {
      recording.push_back(grad_recording());
      return g * 2;
    });
  };
  y().backward();
  (void)grad(y(), {x}, {.create_graph = true});
  EXPECT_EQ(recording, (std::vector<bool>{false, true}));
}

}  // namespace
}  // namespace fovea
