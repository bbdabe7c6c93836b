// Logits of -inf, which are legal and mean impossible: the value is what the finite ones give, the
// gradient at each is 0, never NaN, whichever way it is computed. A logit of +inf has a
// log-sum-exp, +inf, but no distribution: its row is NaN and no other.
#include <functional>

#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::expect_near;
using testing::gradients;
using testing::kInf;
using testing::kWays;
using testing::leaf_of;
using testing::List;
using testing::Way;

// f(test type, way) for all of them.
template <class F>
void in_every_way(const F& f) {
  for (DType t : {f32, f64}) {
    for (const Way way : kWays) {
      SCOPED_TRACE(std::string(fovea::name(t)) + ", " + testing::name(way));
      f(t, way);
    }
  }
}

// Where x is -inf g is 0; elsewhere it is a number.
void expect_clean(const Tensor& x, const Tensor& g) {
  EXPECT_TRUE(all(isfinite(g))) << g.str();
  EXPECT_TRUE(all(masked_fill(g, x.detach() != -kInf, 0) == 0)) << g.str();
}

TEST(Cases, LogSumExpOfInfinitiesOverSeveralAxes) {
  in_every_way([](DType t, Way way) {
    // Over the first and last axis: (0, -inf, 0, -inf), nothing but -inf, (1, 1, 1, -inf).
    const Tensor x = leaf_of(
        {{{0.0, -kInf}, {-kInf, -kInf}, {1.0, 1.0}}, {{0.0, -kInf}, {-kInf, -kInf}, {1.0, -kInf}}},
        t);
    const Tensor y = logsumexp(x, {0, 2});
    expect_near(y, {std::log(2), -kInf, 1 + std::log(3)}, 1e-6);
    const Tensor g = gradients(y, {x}, way, tensor({2.0, 5.0, 3.0}, t))[0];
    expect_near(g, {1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0}, 1e-6);
    expect_clean(x, g);
    if (way == Way::recorded) expect_clean(x, grad(sum(square(g)), {x})[0]);

    const Tensor up = leaf_of({{kInf, 0.0, -kInf}, {1.0, -kInf, 1.0}}, t);
    const Tensor z = logsumexp(up, 1);
    expect_near(z, {kInf, 1 + std::log(2)}, 1e-6);
    const Tensor gz = gradients(sum(z), {up}, way)[0];
    expect_near(gz.flatten().narrow(0, 1, 5), {0, 0, .5, 0, .5}, 1e-6);
  });
}

TEST(Cases, LogCumSumExpOfInfinities) {
  in_every_way([](DType t, Way way) {
    for (int64_t axis : {0, 1}) {
      const auto turned = [&](const Tensor& x) { return axis == 0 ? transpose(x, 0, 1) : x; };
      const Tensor x = turned(tensor({{-kInf, -kInf, 1.0, -kInf, 1.0}}, t)).detach().clone();
      x.requires_grad_();
      const Tensor y = logcumsumexp(x, axis);
      expect_near(y, {-kInf, -kInf, 1, 1, 1 + std::log(2)}, 1e-6);
      const Tensor up = turned(tensor({{1.0, 2.0, 3.0, 4.0, 6.0}}, t));
      const Tensor g = gradients(y, {x}, way, up)[0];
      expect_near(g, {0, 0, 10, 0, 3}, 1e-5);
      if (way == Way::recorded) expect_clean(x, grad(sum(square(g)), {x})[0]);
    }
    const Tensor x = leaf_of({0.0, -kInf, kInf, 1.0}, t);
    const Tensor y = logcumsumexp(x, 0);
    expect_near(y, {0, 0, kInf, kInf}, 0);
    const List g = gradients(sum(y), {x}, way)[0].to_vector();
    EXPECT_EQ(g[0], 2);
    EXPECT_EQ(g[1], 0);
    EXPECT_EQ(g[3], 0);
  });
}

TEST(Cases, DistributionsOverImpossibleClasses) {
  const auto same = [](const Tensor& x) { return x; };
  const auto exponential = [](const Tensor& x) { return exp(x); };
  struct Row {
    const char* name;
    std::function<Tensor(const Tensor&)> f, to_weights;
  };
  const Row rows[] = {
      {"softmax", [](const Tensor& x) { return softmax(x, -1); }, same},
      {"log_softmax", [](const Tensor& x) { return log_softmax(x, -1); }, exponential},
      {"masked_softmax", [](const Tensor& x) { return masked_softmax(x, full({}, true, boolean)); },
       same},
      {"sparsemax", [](const Tensor& x) { return sparsemax(x, -1); }, same},
      {"entmax15", [](const Tensor& x) { return entmax15(x, -1); }, same},
      {"gumbel_softmax", [](const Tensor& x) { return gumbel_softmax(x, zeros({}, x.dtype()), 1); },
       same},
  };
  in_every_way([&](DType t, Way way) {
    for (const Row& row : rows) {
      SCOPED_TRACE(row.name);
      // Impossible classes at either end and between; one possible class; and a row beside that has
      // no distribution.
      const Tensor x = leaf_of({{-kInf, 1.0, -kInf, .75, -kInf},
                                {-kInf, -kInf, -kInf, 3.0, -kInf},
                                {0.0, kInf, 0.0, -kInf, 0.0}},
                               t);
      const Tensor y = row.f(x), w = row.to_weights(y);
      EXPECT_TRUE(all(masked_fill(w, x != -kInf, 0).narrow(0, 0, 2) == 0));
      expect_near(sum(w, -1).narrow(0, 0, 2), {1, 1}, 1e-6);
      EXPECT_TRUE(std::isnan(sum(w[2]).item()));
      const Tensor up = tensor({{3.0, -1.0, 2.0, 5.0, 7.0}}, t).expand({3, 5});
      const Tensor g = gradients(y, {x}, way, up)[0].narrow(0, 0, 2);
      expect_clean(x.narrow(0, 0, 2), g);
      if (way != Way::recorded || !g.requires_grad()) continue;
      expect_clean(x.narrow(0, 0, 2), grad(sum(square(g)), {x})[0].narrow(0, 0, 2));
    }
  });
}

// Neither noise nor temperature makes an impossible class possible.
TEST(Cases, GumbelSoftmaxNeverChoosesTheImpossible) {
  in_every_way([](DType t, Way way) {
    Generator g(8);
    for (double tau : {1e-3, 1.0, 100.0}) {
      const Tensor x = tensor({{0.0, -kInf, 1.0, -kInf}}, t).expand({2000, 4}).clone();
      x.requires_grad_();
      const Tensor y = gumbel_softmax(x, tau, true, -1, &g);
      EXPECT_TRUE(all(y.narrow(1, 1, 1) == 0) && all(y.narrow(1, 3, 1) == 0)) << tau;
      expect_clean(x, gradients(sum(y * tensor({1.0, 2.0, 3.0, 4.0}, t)), {x}, way)[0]);
    }
  });
}

TEST(Cases, LossesOfImpossibleClasses) {
  in_every_way([](DType t, Way way) {
    const Tensor x = leaf_of({{0.0, -kInf, 0.0}, {-kInf, 1.0, -kInf}}, t);
    const Tensor target = tensor({2, 1});
    const List half{-.25, 0, .25, 0, 0, 0};
    const Tensor c = cross_entropy(x, target), n = nll_loss(log_softmax(x), target);
    for (const Tensor& loss : {c, n}) {
      EXPECT_NEAR(loss.item(), std::log(2.0) / 2, 1e-7);
      expect_near(gradients(loss, {x}, way)[0] * -1, half, 1e-7);
    }
    // An impossible class that counts nothing: by its weight as a target, and in smoothing.
    const Tensor weight = tensor({1.0, 0.0, 2.0}, t);
    const Tensor hit = tensor({2, 1, 1});
    const Tensor z = leaf_of({{0.0, -kInf, 0.0}, {0.0, -kInf, 1.0}, {3.0, -kInf, 3.0}}, t);
    const Tensor cw = cross_entropy(z, hit, {.weight = weight});
    const Tensor nw = nll_loss(log_softmax(z), hit, {.weight = weight});
    for (const Tensor& loss : {cw, nw}) {
      EXPECT_NEAR(loss.item(), std::log(2.0), 1e-6);
      expect_near(gradients(loss, {z}, way)[0], {.5, 0, -.5, 0, 0, 0, 0, 0, 0}, 1e-6);
    }
    for (double smoothing : {.1, 1.0}) {
      const Tensor s = cross_entropy(z, hit, {.label_smoothing = smoothing, .weight = weight});
      EXPECT_TRUE(std::isfinite(s.item())) << s.item();
      expect_clean(z, gradients(s, {z}, way)[0]);
    }
    // One that does count: the loss is infinite, the gradient is not.
    for (double smoothing : {0.0, .1}) {
      const Tensor far = cross_entropy(z, tensor({1, 1, 0}), {.label_smoothing = smoothing});
      EXPECT_EQ(far.item(), kInf);
      expect_clean(z, gradients(far, {z}, way)[0]);
    }
    const Tensor lost = cross_entropy(z, tensor({1, 1, 0}), {.reduction = Reduction::sum});
    const Tensor same = nll_loss(log_softmax(z), tensor({1, 1, 0}), {.reduction = Reduction::sum});
    EXPECT_TRUE(allclose(gradients(lost, {z}, way)[0], gradients(same, {z}, way)[0], 0, 1e-6));
  });
}

// Finite, but so far apart that exponentials overflow and vanish.
TEST(Cases, HugeLogitsInEveryWay) {
  in_every_way([](DType t, Way way) {
    const Tensor x = leaf_of({-431.0, 279.0, 427.0}, t);
    const Tensor c = cross_entropy(x, tensor(0)), n = nll_loss(log_softmax(x), tensor(0));
    for (const Tensor& loss : {c, n}) {
      EXPECT_EQ(loss.item(), 858);
      expect_near(gradients(loss, {x}, way)[0], {-1, 0, 1}, 1e-30);
    }
    const Tensor z = leaf_of({1000.0, 0.0, -1000.0}, t);
    const Tensor up = tensor({2.0, 3.0, 5.0}, t);
    expect_near(gradients(softmax(z), {z}, way, up)[0], {0, 0, 0}, 0);
    expect_near(gradients(log_softmax(z), {z}, way, up)[0], {-8, 3, 5}, 0);
    expect_near(gradients(logsumexp(z, 0), {z}, way)[0], {1, 0, 0}, 0);
    expect_near(gradients(logcumsumexp(z, 0), {z}, way, up)[0], {10, 0, 0}, 0);
    const Tensor keep = tensor({true, true, false});
    expect_near(gradients(masked_softmax(z, keep), {z}, way, up)[0], {0, 0, 0}, 0);
    for (const auto& f : {sparsemax, entmax15}) {
      const Tensor y = f(z, 0);
      expect_near(y, {1, 0, 0}, 0);
      expect_near(gradients(y, {z}, way, up)[0], {0, 0, 0}, 0);
    }
  });
}

TEST(Cases, BinaryLossesOfInfiniteLogits) {
  in_every_way([](DType t, Way way) {
    const Tensor x = leaf_of({kInf, -kInf, kInf, -kInf, kInf, 2.0}, t);
    const Tensor target = leaf_of({1.0, 0.0, 0.0, 1.0, .5, 1.0}, t);
    const Tensor loss = binary_cross_entropy_with_logits(x, target, Reduction::none);
    expect_near(loss, {0, 0, kInf, kInf, kInf, std::log1p(std::exp(-2))}, 1e-7);
    const Tensors g = gradients(loss, {x, target}, way, ones({6}, t));
    expect_near(g[0], {0, 0, 1, -1, .5, -1 / (1 + std::exp(2))}, 1e-7);
    expect_near(g[1].narrow(0, 0, 2), {0, 0}, 0);
    EXPECT_EQ(g[1].at({5}), -2);
  });
}

TEST(Cases, DivergenceFromImpossibleClasses) {
  in_every_way([](DType t, Way way) {
    const Tensor x = leaf_of({0.0, -kInf, 0.0}, t);
    const Tensor target = leaf_of({1.0, 0.0, 0.0}, t);
    const Tensor loss = kl_div(log_softmax(x), target, Reduction::sum);
    EXPECT_NEAR(loss.item(), std::log(2.0), 1e-7);
    const Tensors g = gradients(loss, {x, target}, way);
    expect_near(g[0], {-.5, 0, .5}, 1e-7);
    EXPECT_FALSE(any(isnan(g[1])));
    // Where the target is possible and the class is not, they are infinitely far apart.
    const Tensor far = kl_div(log_softmax(x), tensor({0.5, 0.5, 0.0}, t), Reduction::sum);
    EXPECT_EQ(far.item(), kInf);
    expect_clean(x, gradients(far, {x}, way)[0]);
  });
}

}  // namespace
}  // namespace fovea
