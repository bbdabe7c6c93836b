#include "fovea/nn/distributions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/core/error.h"
#include "fovea/core/gradcheck.h"
#include "fovea/ops/ops.h"

namespace {

using namespace fovea;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Pointwise;

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Categorical, NormalisesLogitsAndWeights) {
  const Categorical a({.logits = tensor({std::log(1.0), std::log(3.0)}, f64)});
  const Categorical b({.probs = tensor({2.0, 6.0}, f64)});
  for (const auto& d : {a, b}) {
    EXPECT_THAT(d.probs().to_vector(), Pointwise(DoubleNear(1e-14), std::vector<double>{.25, .75}));
    EXPECT_NEAR(d.log_prob(tensor(1)).item(), std::log(.75), 1e-14);
    EXPECT_NEAR(d.entropy().item(), -.25 * std::log(.25) - .75 * std::log(.75), 1e-14);
  }
}

TEST(Categorical, EntropyLeavesImpossibleClassesOut) {
  const Tensor logits = tensor({0.0, 0.0, -kInf}, f64).requires_grad_();
  const Tensor h = Categorical({.logits = logits}).entropy();
  EXPECT_NEAR(h.item(), std::log(2.0), 1e-15);
  h.backward();
  EXPECT_THAT(logits.grad().to_vector(), Each(DoubleNear(0, 1e-15)));

  // dH/dl_i = -p_i (log p_i + H)
  const Tensor uneven = tensor({0.0, std::log(3.0), -kInf}, f64).requires_grad_();
  const Tensor hu = Categorical({.logits = uneven}).entropy();
  hu.backward();
  const double want = -.25 * (std::log(.25) + hu.item());
  EXPECT_THAT(uneven.grad().to_vector(),
              ElementsAre(DoubleNear(want, 1e-14), DoubleNear(-want, 1e-14), 0.0));

  const Tensor probs = tensor({0.5, 0.5, 0.0}, f64).requires_grad_();
  const Categorical p({.probs = probs});
  EXPECT_NEAR(p.entropy().item(), std::log(2.0), 1e-15);
  EXPECT_EQ(p.log_prob(tensor(2)).item(), -kInf);
  p.entropy().backward();
  EXPECT_TRUE(all(isfinite(probs.grad())));
}

TEST(Categorical, DrawsByProbabilityAndNeverTheImpossible) {
  manual_seed(1);
  const Categorical d({.logits = tensor({{0.0, std::log(3.0), -kInf}, {-kInf, 0.0, 0.0}})});
  const Tensor x = d.sample(20000);
  EXPECT_EQ(x.dtype(), i64);
  EXPECT_EQ(x.shape(), Shape({20000, 2}));
  const auto share = [&](int64_t row, int64_t k) {
    return mean(eq(select(x, 1, row), k).to(f64)).item();
  };
  EXPECT_NEAR(share(0, 1), .75, .01);
  EXPECT_EQ(share(0, 2), 0);
  EXPECT_EQ(share(1, 0), 0);
  EXPECT_NEAR(share(1, 2), .5, .012);
  EXPECT_EQ(d.sample().shape(), Shape({2}));
  Generator a(9), b(9);
  EXPECT_TRUE(equal(d.sample(&a), d.sample(&b)));
}

TEST(Categorical, LogProbBroadcastsAndDifferentiates) {
  const Tensor logits = randn({2, 4}, f64).requires_grad_();
  const Tensor draws = tensor({{0, 3}, {1, 1}, {2, 0}});  // (3, 2): three draws of a batch of two
  const auto report = gradcheck(
      [&](const Tensors& in) { return Categorical({.logits = in[0]}).log_prob(draws); }, {logits});
  EXPECT_TRUE(report) << report.message;
  EXPECT_EQ(Categorical({.logits = logits}).log_prob(draws).shape(), Shape({3, 2}));
  EXPECT_THROW((void)Categorical({.logits = logits}).log_prob(tensor({4, 0})), IndexError);
  const auto h = gradcheck(
      [&](const Tensors& in) { return Categorical({.logits = in[0]}).entropy(); }, {logits});
  EXPECT_TRUE(h) << h.message;
  const Tensor w = uniform({2, 4}, .2, 2, f64).requires_grad_();
  const auto p = gradcheck(
      [&](const Tensors& in) { return Categorical({.probs = in[0]}).log_prob(draws); }, {w});
  EXPECT_TRUE(p) << p.message;
}

TEST(Categorical, DivergesByTheFormula) {
  const Categorical p({.probs = tensor({.5, .5, 0.0}, f64)});
  const Categorical q({.probs = tensor({.25, .5, .25}, f64)});
  EXPECT_NEAR(kl(p, q).item(), .5 * std::log(2.0), 1e-15);
  EXPECT_EQ(kl(q, p).item(), kInf);
  EXPECT_NEAR(kl(p, p).item(), 0, 1e-15);
  EXPECT_THROW((void)kl(p, Categorical({.probs = ones({2})})), ShapeError);
}

TEST(Categorical, RefusesWhatIsNoDistribution) {
  const double nan = std::nan("");
  EXPECT_THROW(Categorical({}), ValueError);
  EXPECT_THROW(Categorical({.logits = zeros({2}), .probs = ones({2})}), ValueError);
  EXPECT_THROW(Categorical({.logits = tensor({0.0, nan})}), ValueError);
  EXPECT_THROW(Categorical({.logits = tensor({0.0, kInf})}), ValueError);
  EXPECT_THROW(Categorical({.logits = tensor({-kInf, -kInf})}), ValueError);
  EXPECT_THROW(Categorical({.probs = tensor({0.0, 0.0})}), ValueError);
  EXPECT_THROW(Categorical({.probs = tensor({-.1, 1.1})}), ValueError);
  EXPECT_THROW(Categorical({.probs = tensor({nan, 1.0})}), ValueError);
  EXPECT_THROW(Categorical({.probs = tensor(1.0)}), ShapeError);
  EXPECT_THROW(Categorical({.probs = tensor({1, 2})}), DTypeError);
}

TEST(Normal, MatchesItsFormulas) {
  const Normal d(tensor({0.0, 1.0}, f64), tensor({1.0, 2.0}, f64));
  const double half_log_2pi = 0.5 * std::log(2 * std::acos(-1.0));
  EXPECT_THAT(d.log_prob(tensor({0.5, 4.0}, f64)).to_vector(),
              ElementsAre(DoubleNear(-.125 - half_log_2pi, 1e-14),
                          DoubleNear(-1.125 - std::log(2.0) - half_log_2pi, 1e-14)));
  EXPECT_THAT(d.entropy().to_vector(),
              ElementsAre(DoubleNear(.5 + half_log_2pi, 1e-14),
                          DoubleNear(.5 + half_log_2pi + std::log(2.0), 1e-14)));
  EXPECT_NEAR(d.cdf(tensor(1.96, f64)).at({0}), .9750021, 1e-7);
  const Normal q(tensor(1.0, f64), tensor(3.0, f64));
  // log(sq / sp) + (sp^2 + (mp - mq)^2) / (2 sq^2) - 1/2
  EXPECT_THAT(kl(d, q).to_vector(), ElementsAre(DoubleNear(std::log(3.0) + 2.0 / 18 - .5, 1e-14),
                                                DoubleNear(std::log(1.5) + 4.0 / 18 - .5, 1e-14)));
}

TEST(Normal, SamplesAreConstantsAndRsamplesAreNot) {
  const Tensor loc = tensor({.3}, f64).requires_grad_(), scale = tensor({.1}, f64);
  Generator g(2);
  const Normal d(loc, scale);
  EXPECT_FALSE(d.sample(&g).requires_grad());
  const Tensor x = d.rsample(&g);
  sum(x).backward();
  EXPECT_EQ(loc.grad().item(), 1);

  // d log pi / d mu = eps / sigma with the sample held fixed: 10 at eps = 1.
  loc.zero_grad();
  sum(d.log_prob(tensor({.4}, f64))).backward();
  EXPECT_NEAR(loc.grad().item(), 10, 1e-12);
}

TEST(Normal, HasRightGradientsAndMoments) {
  const Tensor loc = randn({3}, f64).requires_grad_();
  const Tensor scale = uniform({2, 1}, .5, 2, f64).requires_grad_();
  const auto report = gradcheck(
      [](const Tensors& in) {
        const Normal d(in[0], in[1]);
        return d.log_prob(in[2]) + d.rsample() * d.cdf(in[2]) + d.entropy() +
               kl(d, Normal(in[2], in[1] + 1));
      },
      {loc, scale, randn({2, 3}, f64).requires_grad_()});
  EXPECT_TRUE(report) << report.message;
  const Tensor x = Normal(zeros({100000}) + 2, tensor(3.0)).sample();
  EXPECT_NEAR(mean(x).item(), 2, .05);
  EXPECT_NEAR(x.std().item(), 3, .05);
  EXPECT_THROW(Normal(tensor(0.0), tensor(0.0)), ValueError);
  EXPECT_THROW(Normal(tensor(0.0), tensor(std::nan(""))), ValueError);
  EXPECT_THROW(Normal(zeros({2}), ones({3})), ShapeError);
}

}  // namespace
