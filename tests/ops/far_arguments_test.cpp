// Numbers at the end of their range, tensors of as many axes as there can be, and of none: legal,
// and right.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/engine.h"
#include "fovea/core/random.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr int64_t kMax = INT64_MAX, kMin = INT64_MIN;

TEST(FarArguments, StepsBeyondTheEndTakeOneElement) {
  const Tensor x = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}).requires_grad_();
  const Tensor y = slice(x, 1, 1, kEnd, kMax);
  EXPECT_TRUE(equal(y, tensor({{2.0}, {5.0}})));
  EXPECT_TRUE(equal(grad(sum(y), {x})[0], tensor({{0.0, 1.0, 0.0}, {0.0, 1.0, 0.0}})));
  EXPECT_TRUE(equal(slice(x, 0, kMin, kMax), x));
  EXPECT_EQ(slice(x, 0, 2, 1, kMax).shape().str(), "[0, 3]");
}

TEST(FarArguments, MoreChunksThanElements) {
  const Tensors parts = chunk(arange(3), kMax);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[2].item(), 2);
  EXPECT_EQ(split(arange(3), kMax).size(), 1u);
  EXPECT_EQ(chunk(arange(0), kMax).size(), 1u);
}

TEST(FarArguments, DiagonalsOutsideTheMatrix) {
  const Tensor x = ones({2, 3});
  EXPECT_TRUE(equal(tril(x, kMax), x));
  EXPECT_TRUE(equal(triu(x, kMin), x));
  EXPECT_TRUE(equal(tril(x, kMin), zeros({2, 3})));
  EXPECT_TRUE(equal(triu(x, kMax), zeros({2, 3})));
  EXPECT_EQ(diag(x, kMin).numel(), 0);
  EXPECT_EQ(diag(x, kMax).numel(), 0);
}

TEST(FarArguments, RollsAllTheWayRound) {
  const Tensor x = arange(3);
  EXPECT_TRUE(equal(roll(x, kMin, 0), roll(x, kMin % 3, 0)));
  EXPECT_TRUE(equal(roll(x, kMax, 0), roll(x, kMax % 3, 0)));
}

TEST(FarArguments, OneElementHasAnyRank) {
  const Tensor deep = full(Shape::filled(kMaxRank, 1), 0.5, f64).requires_grad_();
  EXPECT_EQ(repeat_interleave(deep, 3, -1).shape().back(), 3);
  const Tensor y = logcumsumexp(deep, 3);
  EXPECT_EQ(y.item(), 0.5);
  EXPECT_EQ(grad(sum(y), {deep})[0].item(), 1);
}

TEST(FarArguments, GumbelSoftmaxOfAPointOrNothing) {
  const Tensor point = full({}, 0.5).requires_grad_();
  const Tensor y = gumbel_softmax(point, 1, true);
  EXPECT_EQ(y.item(), 1);
  EXPECT_EQ(grad(y, {point})[0].item(), 0);
  EXPECT_EQ(gumbel_softmax(zeros({2, 0}), 1, true).numel(), 0);
}

TEST(FarArguments, IntegersWhereTheFunctionTakesThem) {
  const Tensor x = tensor({-1, 2});
  EXPECT_TRUE(allclose(elu(x, 2), elu(to(x, f32), 2)));
  EXPECT_EQ(elu(x, 2).dtype(), elu(x).dtype());
  EXPECT_TRUE(equal(diag(tensor({true, false})), tensor({{true, false}, {false, false}})));
  EXPECT_TRUE(equal(floor_divide(tensor({kMin}), -1), tensor({kMin})));  // wraps, does not trap
}

}  // namespace
}  // namespace fovea
