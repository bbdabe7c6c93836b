// Small inputs that broke other frameworks, with the right answer: masks, softmax, sampling. Each
// stands for its whole kind.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/ops/ops.h"
#include "fovea/ops/sampling.h"
#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::expect_near;
using testing::kInf;

// Impossible classes (-inf logits): probability 0 and gradient 0, never NaN, in every softmax-like
// function, type and axis; a row of nothing but -inf has log-sum-exp -inf.
TEST(Cases, ImpossibleClassesHaveGradientZero) {
  for (DType t : {f32, f64}) {
    for (int64_t axis : {0, 1}) {
      const auto column = [&](std::initializer_list<Values> v) {
        const Tensor x = tensor(Values(v), t);
        return (axis == 0 ? x.unsqueeze(1) : x.unsqueeze(0)).detach().requires_grad_();
      };
      const Tensor none = column({-kInf, -kInf});
      const Tensor l = logsumexp(none, axis);
      EXPECT_EQ(l.at({0}), -kInf);
      sum(l).backward();
      expect_near(none.grad(), {0, 0}, 0);

      const Tensor x = column({0.0, -kInf});
      const Tensor p = softmax(x, axis);
      expect_near(p, {1, 0}, 0);
      p.backward(full(p.shape(), 3, t));
      expect_near(x.grad(), {0, 0}, 0);

      const Tensor y = column({0.0, -kInf});
      const Tensor lp = log_softmax(y, axis);
      expect_near(lp, {0, -kInf}, 0);
      const Tensor first = lp.select(static_cast<int>(axis), 0);
      sum(first).backward();
      expect_near(y.grad(), {0, 0}, 0);

      const Tensor z = column({1.0, -kInf, 1.0});
      sum(logsumexp(z, axis)).backward();
      expect_near(z.grad(), {0.5, 0, 0.5}, 1e-7);
    }
    const Tensor logits = tensor({{0.0, -kInf, 0.0}}, t).requires_grad_();
    const Tensor loss = cross_entropy(logits, tensor({0}));
    EXPECT_NEAR(loss.item(), std::log(2.0), 1e-7);
    loss.backward();
    expect_near(logits.grad(), {-0.5, 0, 0.5}, 1e-7);
  }
}

// Also where the gradient is itself differentiated: the formula path must be clean as well.
TEST(Cases, ImpossibleClassesStayCleanUnderCreateGraph) {
  const Tensor x = tensor({0.5, -kInf, -1.0}, f64).requires_grad_();
  for (const auto& f : {softmax, log_softmax}) {
    const Tensor y = f(x, -1);
    const Tensor kept = masked_fill(y, tensor({false, true, false}), 0);
    const Tensor g = grad(sum(kept * kept), {x}, {.create_graph = true})[0];
    EXPECT_TRUE(all(isfinite(g))) << g.str();
    EXPECT_EQ(g.at({1}), 0);
    EXPECT_TRUE(all(isfinite(grad(sum(g * g), {x})[0])));
  }
  const Tensor none = full({2}, -kInf, f64).requires_grad_();
  const Tensor g = grad(logsumexp(none, 0), {none}, {.create_graph = true})[0];
  expect_near(g, {0, 0}, 0);
  EXPECT_TRUE(all(isfinite(grad(sum(g * g), {none})[0])));
}

// Large logits: nothing overflows.
TEST(Cases, HugeLogits) {
  for (DType t : {f32, f64}) {
    const Tensor logits = tensor({-431.0, 279.0, 427.0}, t).requires_grad_();
    const Tensor loss = cross_entropy(logits, tensor(0));
    EXPECT_EQ(loss.item(), 858);
    loss.backward();
    expect_near(logits.grad(), {-1, 0, 1}, 1e-30);
    expect_near(softmax(tensor({1000.0, 0.0, -1000.0}, t)), {1, 0, 0}, 0);
    expect_near(log_softmax(tensor({1000.0, 0.0, -1000.0}, t)), {0, -1000, -2000}, 0);
    EXPECT_EQ(logsumexp(tensor({1000.0, 0.0}, t), 0).item(), 1000);
    const Tensor far = tensor({-800.0, 800.0}, t).requires_grad_();
    const Tensor b = binary_cross_entropy_with_logits(far, tensor({1.0, 0.0}, t), Reduction::sum);
    EXPECT_EQ(b.item(), 1600);
    b.backward();
    expect_near(far.grad(), {-1, 1}, 0);
  }
}

// Sampling: never a class of probability 0, never the index after the last.
TEST(Cases, MultinomialNeverDrawsTheImpossible) {
  Generator g(1);
  const auto draw = [&](const Tensor& p, int64_t n) { return multinomial(p, n, true, &g); };
  for (DType t : {f32, f64}) {
    EXPECT_TRUE(all(draw(tensor({0.0, 1.0}, t), 10000) == 1));
    const Tensor x = draw(tensor({.33, .34, 0.0, .33}, t), 200000);
    EXPECT_FALSE(any(x == 2));
    EXPECT_TRUE(all(x >= 0) && all(x < 4));
    EXPECT_NEAR(sum(x == 3).item() / 200000.0, .33, .005);
    // A running sum that ends below 1, with trailing impossible classes.
    const Tensor thirds = draw(tensor({.1, .1, .1, .1, .1, .1, .1, 0.0, 0.0}, t), 200000);
    EXPECT_TRUE(all(thirds < 7));
    const Tensor same = draw(softmax(full({5}, 1000, t)), 100000);
    for (int k = 0; k < 5; ++k) EXPECT_NEAR(sum(same == k).item() / 100000.0, .2, .006) << k;
    const Tensor weights = draw(tensor({2.0, 0.0, 6.0}, t), 100000);
    EXPECT_NEAR(sum(weights == 0).item() / 100000.0, .25, .006) << "normalised";
    for (const Values& bad :
         {Values{0.0, 0.0}, Values{-.1, 1.1}, Values{NAN, 1.0}, Values{kInf, 1.0}}) {
      EXPECT_THROW((void)draw(tensor(bad, t), 1), ValueError);
    }
  }
}

TEST(Cases, MultinomialOfManyRowsAndOfFewSurvivors) {
  Generator g(2);
  const Tensor p = tensor({{0.0, 0.0, 1e-30}, {1e-30, 0.0, 0.0}, {0.0, 1e30, 0.0}});
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(multinomial(p, 1, false, &g).to_vector(), (std::vector<double>{2, 0, 1}));
  }
  EXPECT_THROW((void)multinomial(p, 2, false, &g), ValueError);
}

// The bits that a uniform number can take never include 1, and those of a normal are finite.
TEST(Cases, UniformNumbersStayBelowOne) {
  Generator g(3);
  for (DType t : {f32, f64}) {
    const Tensor u = rand({2000000}, t, &g);
    EXPECT_TRUE(all(u < 1) && all(u >= 0));
    EXPECT_TRUE(all(isfinite(randn({2000000}, t, &g))));
    EXPECT_TRUE(all(uniform({1000000}, -1, 1 + 1e-7, t, &g) < 1 + 1e-7));
  }
}

// Gumbel noise is finite at both ends of what a uniform number can be, so that at any temperature
// rows are distributions; and no temperature is 0 or below.
TEST(Cases, GumbelNoiseIsFinite) {
  for (DType t : {f32, f64}) {
    Generator g(4);
    for (double tau : {1e-3, 1.0}) {
      const Tensor y = gumbel_softmax(zeros({100000, 50}, t), tau, false, -1, &g);
      EXPECT_TRUE(all(isfinite(y)));
      EXPECT_LE(max(abs(sum(y, -1) - 1)).item(), 1e-5);
    }
    // Random bits that are all 0 or all 1 give the first two; 0 and 1 themselves never come.
    const Tensor ends = detail::gumbel_noise(tensor({0x1p-54, 1 - 0x1p-53, 0.0, 1.0}, f64));
    expect_near(ends,
                {-std::log(54 * std::log(2.0)), 53 * std::log(2.0), -std::log(54 * std::log(2.0)),
                 53 * std::log(2.0)},
                1e-13);
    EXPECT_TRUE(all(isfinite(to(ends, t)))) << ends.str();
    const Tensor far = gumbel_softmax(tensor({0.0, 0.0}, t), to(slice(ends, 0, 0, 2), t), 1e-3);
    expect_near(far, {0, 1}, 0);
    for (double tau : {0.0, -1.0, std::nan(""), kInf}) {
      EXPECT_THROW((void)gumbel_softmax(zeros({2}, t), tau), ValueError) << tau;
      EXPECT_THROW((void)gumbel_softmax(zeros({2}, t), zeros({2}, t), tau), ValueError) << tau;
    }
  }
}

// Straight through: the forward pass is exactly one 1, at the first of ties, and the backward pass
// that of the soft sample.
TEST(Cases, StraightThroughGumbelOfATie) {
  for (DType t : {f32, f64}) {
    const Tensor x = tensor({.2, .2}, t).requires_grad_();
    const Tensor y = gumbel_softmax(x, zeros({2}, t), 1, true);
    EXPECT_EQ(y.to_vector(), (std::vector<double>{1, 0}));
    y.backward(tensor({1.0, 0.0}, t));
    expect_near(x.grad(), {.25, -.25}, 1e-7);
    const Tensor many = gumbel_softmax(full({3, 5}, 7, t), zeros({}, t), 0.5, true, 0);
    EXPECT_TRUE(equal(sum(many, 0), ones({5}, t)));
    EXPECT_TRUE(equal(many[0], ones({5}, t)));
  }
}

}  // namespace
}  // namespace fovea
