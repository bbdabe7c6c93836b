// Changing tensors in place: what is allowed, what it means for the graph, and what is caught.
#include <gtest/gtest.h>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "tests/core/counted_op.h"

namespace fovea {
namespace {

using testing::leaf;
using testing::message_of;

TEST(InPlace, ChangesTheElementsAndTheVersion) {
  const Tensor x = tensor({1.0, 2.0});
  const uint32_t v = x.version();
  x.add_(1).mul_(tensor({2.0, 3.0})).sub_(1).div_(2);
  EXPECT_EQ(x.to_vector(), (std::vector<double>{1.5, 4}));
  EXPECT_EQ(x.version(), v + 4);
  x += 1;
  x.sub_(x);
  EXPECT_EQ(x.to_vector(), (std::vector<double>{0, 0}));
  x.fill_(7);
  EXPECT_EQ(x.at({1}), 7);
  x.copy_(tensor(3));
  EXPECT_EQ(x.to_vector(), (std::vector<double>{3, 3}));
  x.zero_();
  EXPECT_EQ(x.at({0}), 0);
}

TEST(InPlace, ReachesThroughViews) {
  const Tensor x = zeros({2, 3});
  x[1].fill_(5);
  x.t()[0].add_(1);
  x.slice(1, 0, kEnd, 2).mul_(2);
  EXPECT_EQ(x.to_vector(), (std::vector<double>{2, 0, 0, 12, 5, 10}));
  EXPECT_GT(x.version(), 0u);
  EXPECT_EQ(x.version(), x[0].version()) << "views count as one";
}

TEST(InPlace, CannotGrowOrWiden) {
  const Tensor x = ones({2}), n = ones({2}, i64);
  EXPECT_THROW(x.add_(ones({3, 2})), ShapeError);
  EXPECT_THROW(x.add_(ones({3})), ShapeError);
  EXPECT_THROW(n.add_(ones({2})), DTypeError);
  EXPECT_THROW(n.mul_(0.5), DTypeError);
  EXPECT_THROW(x.add_(ones({2}, f64)), DTypeError);
  EXPECT_EQ(x.to_vector(), (std::vector<double>{1, 1}));
  EXPECT_EQ(x.version(), 0u) << "a refused change leaves no trace";
}

TEST(InPlace, RefusesOverlap) { EXPECT_THROW(ones({1}).expand({3}).add_(1), GraphError); }

TEST(InPlace, ASavedTensorThatChangedIsCaught) {
  const Tensor a = tensor({1.0, 2.0}, f64), b = tensor({3.0, 4.0}, f64).requires_grad_();
  const Tensor y = a * b;
  a.add_(1);
  const std::string m = message_of<GraphError>([&] { sum(y).backward(); });
  for (const char* part : {"mul", "`a`", "[2]", "version 0", "1 now"}) {
    EXPECT_NE(m.find(part), std::string::npos) << part << " in: " << m;
  }
  EXPECT_FALSE(b.grad().defined());
}

TEST(InPlace, SoIsAnOutput) {
  const Tensor x = leaf(1);
  const Tensor y = exp(x);
  const NoGrad scope;
  y.mul_(2);
  const EnableGrad on;
  EXPECT_THROW(y.backward(), GraphError);
}

TEST(InPlace, AndAChangeThroughAView) {
  const Tensor a = tensor({1.0, 2.0}, f64), b = tensor({3.0, 4.0}, f64).requires_grad_();
  const Tensor y = sum(a * b);
  a[0].fill_(9);
  EXPECT_THROW(y.backward(), GraphError);
}

TEST(InPlace, WhatWasNotSavedMayChange) {
  const Tensor a = tensor({1.0, 2.0}, f64), b = tensor({3.0, 4.0}, f64).requires_grad_();
  const Tensor y = sum(a + b);
  a.add_(1);
  y.backward();
  EXPECT_EQ(b.grad().at({0}), 1);
  // mul keeps only what a wanted gradient needs: a's own value is not.
  const Tensor c = tensor({1.0, 2.0}, f64).requires_grad_(), d = tensor({3.0, 4.0}, f64);
  const Tensor z = sum(c * d);
  {
    const NoGrad scope;
    c.add_(1);
  }
  z.backward();
  EXPECT_EQ(c.grad().to_vector(), (std::vector<double>{3, 4}));
}

TEST(InPlace, ALeafChangesOnlyUnderNoGrad) {
  const Tensor w = leaf(1);
  const std::string m = message_of<GraphError>([&] { w.sub_(0.1); });
  EXPECT_NE(m.find("leaf"), std::string::npos) << m;
  const NoGrad scope;
  w.sub_(0.25);
  EXPECT_EQ(w.item(), 0.75);
  EXPECT_TRUE(w.requires_grad() && w.is_leaf());
}

TEST(InPlace, TheNodeIsReplaced) {
  const Tensor x = tensor({1.0, 2.0}, f64).requires_grad_();
  const Tensor y = x * 3;
  const Tensor factor = y.detach().clone();
  y.mul_(factor);
  y.add_(x);
  EXPECT_EQ(y.to_vector(), (std::vector<double>{10, 38}));
  sum(y).backward();
  EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{10, 19}));
}

TEST(InPlace, TheOtherOperandsGradientIsMadeOfTheOldValue) {
  const Tensor x = leaf(3), w = leaf(5);
  const Tensor y = x * 2;
  y.mul_(w);
  y.backward();
  EXPECT_EQ(x.grad().item(), 10);
  EXPECT_EQ(w.grad().item(), 6);
}

TEST(InPlace, AConstantJoinsTheGraph) {
  const Tensor x = leaf(4);
  const Tensor total = zeros({}, f64);
  for (int i = 0; i < 3; ++i) total.add_(x * x);
  EXPECT_TRUE(total.requires_grad());
  total.backward();
  EXPECT_EQ(x.grad().item(), 24);
}

TEST(InPlace, FillingForgetsThePast) {
  const Tensor x = leaf(4);
  const Tensor y = x * 2;
  y.fill_(1);
  const Tensor z = y * x;
  z.backward();
  EXPECT_EQ(x.grad().item(), 1);
}

TEST(InPlace, AViewInTheWayIsAnErrorWhileRecording) {
  const Tensor x = tensor({1.0, 2.0}, f64).requires_grad_();
  const Tensor y = x * 3;
  const Tensor part = y[0];
  const std::string m = message_of<GraphError>([&] { y.add_(1); });
  EXPECT_NE(m.find("view"), std::string::npos) << m;
  EXPECT_THROW(part.add_(1), GraphError);
  EXPECT_EQ(y.to_vector(), (std::vector<double>{3, 6}));
}

TEST(InPlace, AViewThatIsGoneIsNotInTheWay) {
  const Tensor x = tensor({1.0, 2.0}, f64).requires_grad_();
  const Tensor y = x * 3;
  { const Tensor part = y.detach(); }
  y.add_(1);
  sum(y).backward();
  EXPECT_EQ(x.grad().at({0}), 3);
}

// exp keeps its output for the gradient: the change must not spoil what it kept, or must be caught.
TEST(InPlace, OnAnOutputThatWasSaved) {
  const Tensor x = leaf(1);
  const Tensor y = exp(x);
  y.mul_(2);
  EXPECT_NE(message_of<GraphError>([&] { y.backward(); }).find("exp"), std::string::npos);
}

}  // namespace
}  // namespace fovea
