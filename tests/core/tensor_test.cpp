#include <gtest/gtest.h>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

TEST(Tensors, HandlesShareAndClonesDoNot) {
  const Tensor a = tensor({1.0, 2.0});
  const Tensor b = a;
  const Tensor c = a.clone();
  EXPECT_TRUE(a.same_as(b));
  EXPECT_TRUE(a.shares_storage(b));
  EXPECT_FALSE(a.shares_storage(c));
  b.data<float>()[0] = 5;
  EXPECT_EQ(a.at({0}), 5);
  EXPECT_EQ(c.at({0}), 1);
}

TEST(Tensors, AnUndefinedOneOnlySaysSo) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_FALSE(none.requires_grad());
  EXPECT_THROW((void)none.item(), ShapeError);
  EXPECT_THROW((void)add(none, ones({2})), Error);
  EXPECT_THROW((void)exp(none), Error);
  EXPECT_THROW((void)cat({ones({2}), none}), Error);
}

TEST(Tensors, ItemNeedsOneElement) {
  EXPECT_EQ(tensor(2.5).item(), 2.5);
  EXPECT_EQ(tensor({{7}}).item<int64_t>(), 7);
  EXPECT_EQ(tensor(true).item<bool>(), true);
  EXPECT_THROW((void)tensor({1, 2}).item(), ShapeError);
  EXPECT_THROW((void)zeros({0}).item(), ShapeError);
}

TEST(Tensors, AtTakesAFullIndex) {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(x.at({1, 2}), 6);
  EXPECT_EQ(x.at({-1, -3}), 4);
  EXPECT_EQ(x.t().at({2, 0}), 3);
  EXPECT_EQ(tensor(4.0).at({}), 4);
  EXPECT_THROW((void)x.at({2, 0}), IndexError);
  EXPECT_THROW((void)x.at({0, -4}), IndexError);
  EXPECT_THROW((void)x.at({0}), IndexError);
  EXPECT_THROW((void)x.at({0, 0, 0}), IndexError);
}

TEST(Tensors, ToVectorFollowsTheShapeNotTheMemory) {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(x.to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(x.t().to_vector<int>(), (std::vector<int>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(x.slice(1, 0, kEnd, 2).to_vector(), (std::vector<double>{1, 3, 4, 6}));
  EXPECT_EQ(x[0].expand({2, 3}).to_vector(), (std::vector<double>{1, 2, 3, 1, 2, 3}));
  EXPECT_TRUE(zeros({0, 3}).to_vector().empty());
}

TEST(Tensors, DataAsksForTheRightType) {
  const Tensor x = ones({2});
  EXPECT_EQ(x.data<float>()[1], 1);
  EXPECT_THROW((void)x.data<double>(), DTypeError);
  EXPECT_THROW((void)x.data<int64_t>(), DTypeError);
  EXPECT_EQ(ones({2}, boolean).data<uint8_t>()[0], 1);
}

TEST(Tensors, SizesAndAxes) {
  const Tensor x = zeros({2, 3, 4});
  EXPECT_EQ(x.size(-1), 4);
  EXPECT_EQ(x.size(0), 2);
  EXPECT_EQ(x.dim(), 3);
  EXPECT_EQ(x.numel(), 24);
  EXPECT_THROW((void)x.size(3), IndexError);
  EXPECT_THROW((void)tensor(1.0).size(0), IndexError);
}

TEST(Tensors, ContiguityLooksThroughAxesOfSizeOneAndEmptiness) {
  const Tensor x = zeros({4, 1, 3});
  EXPECT_TRUE(x.transpose(0, 1).is_contiguous());
  EXPECT_FALSE(x.transpose(0, 2).is_contiguous());
  EXPECT_TRUE(zeros({0, 3}).t().is_contiguous());
  EXPECT_TRUE(x.slice(0, 1, 3).is_contiguous());
  EXPECT_FALSE(x.slice(2, 0, 2).is_contiguous());
}

TEST(Tensors, OverlapIsSeen) {
  const Tensor x = zeros({3, 4});
  EXPECT_FALSE(x.overlaps_itself());
  EXPECT_FALSE(x.t().overlaps_itself());
  EXPECT_FALSE(x.slice(1, 0, kEnd, 2).t().overlaps_itself());
  EXPECT_TRUE(x[0].expand({2, 4}).overlaps_itself());
  EXPECT_FALSE(x[0].expand({1, 4}).overlaps_itself());
}

// Each method is the function of the same name.
TEST(Tensors, MethodsAreTheFunctions) {
  const Tensor x = tensor({{0.5, 2.0, 1.0}, {3.0, 0.25, 4.0}}, f64);
  const Tensor y = tensor({{2.0, 1.0}, {0.0, 1.0}, {1.0, 5.0}}, f64);
  const Tensor index = tensor({{0, 2}, {1, 1}});
  const auto same = [](const Tensor& a, const Tensor& b) { EXPECT_TRUE(equal(a, b)) << a.str(); };
  same(x.exp(), exp(x)), same(x.log(), log(x)), same(x.sqrt(), sqrt(x));
  same(x.square(), square(x)), same(x.abs(), abs(x)), same(x.tanh(), tanh(x));
  same(x.sigmoid(), sigmoid(x)), same(x.relu(), relu(x)), same(x.pow(3), pow(x, 3));
  same(x.clamp(0.5, 2), clamp(x, 0.5, 2)), same(x.matmul(y), matmul(x, y)),
      same(x.mm(y), x.matmul(y));
  same(x.sum(), sum(x)), same(x.sum(0, true), sum(x, 0, true)), same(x.mean(-1), mean(x, -1));
  same(x.var(1), var(x, 1)), same(x.std(1, 0), std(x, 1, 0)), same(x.max(), max(x));
  same(x.min(), min(x)), same(x.amax(0), amax(x, 0)), same(x.amin(1, true), amin(x, 1, true));
  same(x.argmax(), argmax(x)), same(x.argmin(0), argmin(x, 0));
  same(x.logsumexp(1), logsumexp(x, 1)), same(x.cumsum(0), cumsum(x, 0));
  same(x.softmax(), softmax(x)), same(x.log_softmax(0), log_softmax(x, 0));
  same(x.view({3, 2}), view(x, {3, 2})), same(x.reshape({-1}), reshape(x, {-1}));
  same(x.flatten(), flatten(x)), same(x.transpose(0, 1), transpose(x, 0, 1)), same(x.mT(), x.t());
  same(x.permute({1, 0}), permute(x, {1, 0})), same(x.unsqueeze(0).squeeze(), x);
  same(x.unsqueeze(1).squeeze(1), x), same(x[1], select(x, 0, 1)),
      same(x.select(1, 2), select(x, 1, 2));
  same(x.slice(1, 0, 3, 2), slice(x, 1, 0, 3, 2)), same(x.narrow(1, 1, 2), narrow(x, 1, 1, 2));
  same(x.split(2, 1)[1], split(x, 2, 1)[1]), same(x.chunk(2)[1], chunk(x, 2)[1]);
  same(x.unbind(1)[2], unbind(x, 1)[2]), same(x.flip(1), flip(x, 1));
  same(x.repeat({2, 1}), repeat(x, {2, 1})), same(x.gather(1, index), gather(x, 1, index));
  same(x.index_select(1, index[0]), index_select(x, 1, index[0]));
  same(x.scatter_add(1, index, y.slice(0, 0, 2)), scatter_add(x, 1, index, y.slice(0, 0, 2)));
  same(x.masked_fill(x > 1, 0), masked_fill(x, x > 1, 0)), same(x.to(f32), to(x, f32));
  same(x[0].expand({2, 3}), expand(x[0], {2, 3})), same(x[0].expand_as(x), x[0].expand({2, 3}));
  same(x.t().contiguous(), contiguous(transpose(x, 0, 1)));
  EXPECT_TRUE((x > 3.5).any() && !(x > 3.5).all() && (x > 0).all());
}

TEST(Tensors, MethodsOfAMatrixRefuseOthers) {
  EXPECT_THROW((void)zeros({2, 3, 4}).t(), ShapeError);
  EXPECT_THROW((void)zeros({3}).mT(), IndexError);
}

}  // namespace
}  // namespace fovea
