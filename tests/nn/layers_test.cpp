#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/core/gradcheck.h"
#include "fovea/nn/activation.h"
#include "fovea/nn/dropout.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/ops/ops.h"

namespace {

using namespace fovea;
using ::testing::ElementsAre;

TEST(Linear, MultipliesAndAdds) {
  Linear l(3, 2);
  l.weight.detach().copy_(tensor({{1, 2, 3}, {4, 5, 6}}));
  l.bias.detach().copy_(tensor({10, 20}));
  EXPECT_THAT(l(tensor({{1.0, 1.0, 1.0}, {1.0, 0.0, -1.0}})).to_vector(),
              ElementsAre(16, 35, 8, 18));
  EXPECT_EQ(l(zeros({4, 5, 3})).shape(), Shape({4, 5, 2}));
  EXPECT_EQ(l.in(), 3);
  EXPECT_EQ(l.out(), 2);
  EXPECT_THROW((void)l(zeros({4, 2})), ShapeError);
}

TEST(Linear, StartsAsPyTorchDoes) {
  manual_seed(3);
  const Linear l({.in = 64, .out = 512, .dtype = f64});
  const double bound = 1.0 / 8;
  for (const Tensor& t : {l.weight, l.bias}) {
    EXPECT_TRUE(t.requires_grad());
    EXPECT_LE(max(abs(t)).item(), bound);
    EXPECT_GT(max(t).item(), 0.98 * bound);
    EXPECT_LT(min(t).item(), -0.98 * bound);
  }
  // Of U(-b, b) the standard deviation is b / sqrt(3).
  EXPECT_NEAR(l.weight.std().item(), bound / std::sqrt(3.0), 0.01 * bound);
  manual_seed(3);
  EXPECT_TRUE(equal(l.weight, Linear({.in = 64, .out = 512, .dtype = f64}).weight));
}

TEST(Linear, WorksWithoutBiasAndWithoutWidth) {
  const Linear l({.in = 3, .out = 2, .bias = false});
  EXPECT_FALSE(l.bias.defined());
  EXPECT_EQ(l.parameters().size(), 1u);
  EXPECT_EQ(Linear(0, 2)(zeros({5, 0})).shape(), Shape({5, 2}));
  EXPECT_THROW(Linear(-1, 2), ValueError);
}

TEST(Embedding, LooksUpRowsAndLeavesPaddingOut) {
  Embedding e({.count = 4, .dim = 3, .padding_idx = 2});
  EXPECT_THAT(e.weight[2].to_vector(), ElementsAre(0, 0, 0));
  EXPECT_NE(e.weight.at({1, 0}), 0);
  const Tensor y = e(tensor({{2, 1}, {1, 3}}));
  EXPECT_EQ(y.shape(), Shape({2, 2, 3}));
  EXPECT_TRUE(equal(y[0][1], e.weight[1]));
  sum(y).backward();
  EXPECT_THAT(e.weight.grad().sum(1).to_vector(), ElementsAre(0, 6, 0, 3));
  EXPECT_THROW((void)e(tensor({4})), IndexError);
  EXPECT_THROW(Embedding({.count = 4, .dim = 3, .padding_idx = 4}), ValueError);
}

TEST(Embedding, StartsStandardNormal) {
  const Embedding e(400, 50);
  EXPECT_NEAR(mean(e.weight).item(), 0, 0.03);
  EXPECT_NEAR(e.weight.std().item(), 1, 0.03);
}

TEST(LayerNorm, NormalisesTheLastAxis) {
  const LayerNorm n(4);
  const auto y = n(tensor({1.0, 0.0, 0.0, 0.0})).to_vector();
  EXPECT_NEAR(y[0], 1.73200, 1e-5);  // 0.75 / sqrt(0.1875 + 1e-5)
  EXPECT_NEAR(y[1], -0.57733, 1e-5);
  const LayerNorm wide({.dim = 4, .eps = 1});
  EXPECT_NEAR(wide(tensor({1.0, 0.0, 0.0, 0.0})).at({0}), 0.68825, 1e-5);  // 0.75 / sqrt(1.1875)
  EXPECT_THROW((void)n(zeros({2, 3})), ShapeError);
  EXPECT_THROW(LayerNorm({.dim = 4, .eps = 0}), ValueError);
  EXPECT_EQ(LayerNorm({.dim = 4, .bias = false}).parameters().size(), 1u);
  EXPECT_EQ(LayerNorm({.dim = 4, .affine = false}).parameters().size(), 0u);
}

TEST(Dropout, ActsOnlyWhileTraining) {
  Dropout d(0.25);
  const Tensor x = ones({100000});
  const auto y = d(x);
  EXPECT_NEAR(mean(y).item(), 1, 0.01);
  EXPECT_NEAR(max(y).item(), 4.0 / 3, 1e-6);
  EXPECT_EQ(min(y).item(), 0);
  d.eval();
  EXPECT_TRUE(equal(d(x), x));
  EXPECT_THROW(Dropout(-0.1), ValueError);
  EXPECT_THROW(Dropout(std::nan("")), ValueError);
}

TEST(Activation, CallsTheFunctionOfItsName) {
  const Tensor x = tensor({-1.5, 0.25, 2.0});
  EXPECT_TRUE(equal(ReLU()(x), relu(x)));
  EXPECT_TRUE(equal(Tanh()(x), tanh(x)));
  EXPECT_TRUE(equal(Sigmoid()(x), sigmoid(x)));
  EXPECT_TRUE(equal(GELU()(x), gelu(x)));
  EXPECT_TRUE(equal(SiLU()(x), silu(x)));
  EXPECT_TRUE(equal(Softplus()(x), softplus(x)));
  EXPECT_TRUE(equal(Softmax()(x), softmax(x, -1)));
  EXPECT_TRUE(equal(LogSoftmax()(x), log_softmax(x, -1)));
  EXPECT_EQ(Flatten()(zeros({2, 3, 4})).shape(), Shape({2, 12}));
}

TEST(Layers, HaveRightGradients) {
  Linear l({.in = 3, .out = 4, .dtype = f64});
  LayerNorm n({.dim = 4, .dtype = f64});
  n.weight.detach().copy_(tensor({2.0, 0.5, 3.0, 1.0}, f64));
  const Tensor x = randn({2, 3}, f64).requires_grad_();
  const auto f = [&](const Tensors& in) { return n(tanh(l(in[0]))); };
  const auto report = gradcheck(f, {x, l.weight, l.bias, n.weight, n.bias});
  EXPECT_TRUE(report) << report.message;
}

}  // namespace
