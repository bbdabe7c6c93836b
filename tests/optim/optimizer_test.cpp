#include "fovea/optim/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/core/parallel.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"
#include "fovea/ops/ops.h"
#include "fovea/optim/adagrad.h"
#include "fovea/optim/adam.h"
#include "fovea/optim/rmsprop.h"
#include "fovea/optim/sgd.h"
#include "io/temp_dir.h"

namespace {

using namespace fovea;
using fovea::testing::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor leaf(const Values& v, DType t = f64) { return tensor(v, t).requires_grad_(); }

// The path of p from 1.5 under the gradient p^3 - 2 p + 0.3 t, against numbers computed from
// PyTorch's formulas in double precision. An array long enough for several chunks and a tail.
void expect_path(Optimizer& optimizer, const Tensor& p, const std::vector<double>& want) {
  const double tolerance = p.dtype() == f64 ? 1e-14 : 1e-6;
  for (size_t t = 0; t < want.size(); ++t) {
    optimizer.zero_grad();
    (sum(square(square(p))) * 0.25 - sum(square(p)) + sum(p) * (0.3 * (t + 1.0))).backward();
    optimizer.step();
    const double error =
        std::max(std::fabs(max(p).item() - want[t]), std::fabs(min(p).item() - want[t]));
    EXPECT_TRUE(error <= tolerance * want[t]) << "step " << t << ": " << error;
  }
}

class Paths : public ::testing::TestWithParam<DType> {
 protected:
  Tensor p = full({3, 12345}, 1.5, GetParam()).requires_grad_();
};
INSTANTIATE_TEST_SUITE_P(DTypes, Paths, ::testing::Values(f32, f64),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST_P(Paths, Sgd) {
  SGD o({p}, {.lr = 0.1});
  expect_path(o, p, {1.4325, 1.3650429421875, 1.29369731408267, 1.215916771394574});
}
TEST_P(Paths, SgdMomentum) {
  SGD o({p}, {.lr = 0.1, .momentum = 0.9, .dampening = 0.5, .weight_decay = 0.05});
  expect_path(o, p, {1.425, 1.32175546875, 1.1972487290743707, 1.0561173275037705});
}
TEST_P(Paths, SgdNesterov) {
  SGD o({p}, {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.05, .nesterov = true});
  expect_path(o, p, {1.3575, 1.21039794796875, 1.059433342918151, 0.890327948102868});
}
TEST_P(Paths, Adam) {
  Adam o({p}, {.lr = 0.1});
  expect_path(o, p,
              {1.4000000014814815, 1.3011296002136425, 1.2029958549876099, 1.1047028707264392});
}
TEST_P(Paths, AdamWeightDecay) {
  Adam o({p}, {.lr = 0.1, .beta1 = 0.8, .beta2 = 0.99, .eps = 1e-6, .weight_decay = 0.05});
  expect_path(o, p,
              {1.4000001333331555, 1.3015471957070788, 1.2042206580097417, 1.1067433277653869});
}
TEST_P(Paths, AdamW) {
  AdamW o({p}, {.lr = 0.1, .weight_decay = 0.05});
  expect_path(o, p,
              {1.3925000014814815, 1.2871218075788005, 1.1833943778051894, 1.0800928800397316});
}

TEST_P(Paths, RMSprop) {
  RMSprop o({p}, {.lr = 0.1, .alpha = 0.9, .weight_decay = 0.05});
  expect_path(o, p,
              {1.1837722473164949, 1.2057262689447252, 1.0769505333441869, 0.9363017553324049});
}

TEST(Adagrad, ScalesByTheSumOfSquares) {
  for (DType t : {f32, f64}) {
    const Tensor p = leaf({1.0}, t);
    Adagrad o({p}, {.lr = .1, .lr_decay = .5, .weight_decay = .2, .initial_accumulator = 4});
    p.set_grad(full({1}, 2.8, t));  // 3 with the decay: v = 4 + 9
    o.step();
    const double first = 1 - .1 * 3 / std::sqrt(13.0);
    EXPECT_NEAR(p.item(), first, 1e-6);
    p.set_grad(full({1}, -1, t));
    o.step();
    const double g = -1 + .2 * first;
    EXPECT_NEAR(p.item(), first - .1 / 1.5 * g / std::sqrt(13 + g * g), 1e-6);
    EXPECT_EQ(o.state().back().first, "0.sum");
  }
}

TEST(Adam, FirstStepOfATinyGradient) {
  for (DType t : {f32, f64}) {
    const Tensor p = leaf({0.0}, t);
    p.set_grad(full({1}, 1e-8, t));
    Adam({p}, {.lr = 1e-3, .eps = 1e-8}).step();
    EXPECT_NEAR(p.item(), -5.0e-4, 1e-9);
  }
}

TEST(AdamW, DecaysBesideTheStep) {
  for (DType t : {f32, f64}) {
    const Tensor p = leaf({1.0}, t);
    p.set_grad(ones({1}, t));
    AdamW({p}, {.lr = .1, .weight_decay = .1}).step();
    EXPECT_NEAR(p.item(), .89, 1e-6);
  }
}

TEST(Optimizer, SkipsParametersWithoutGradient) {
  const Tensor a = leaf({1.0}), b = leaf({1.0}), c = leaf({1.0});
  AdamW o({a, b, c}, {.lr = .1, .weight_decay = .5});
  b.requires_grad_(false);
  a.set_grad(ones({1}, f64));
  const uint32_t version = a.version(), still = c.version();
  o.step();
  EXPECT_NE(a.item(), 1);
  EXPECT_EQ(b.item(), 1);
  EXPECT_EQ(c.item(), 1);  // not even decayed
  EXPECT_GT(a.version(), version);
  EXPECT_EQ(c.version(), still);
  std::vector<std::string> names;
  for (const auto& [name, t] : o.state()) names.push_back(name);
  EXPECT_THAT(names,
              ElementsAre("group.0.lr", "0.step", "0.exp_avg", "0.exp_avg_sq", "1.step", "2.step"));
}

TEST(Optimizer, CountsTheStepsOfEachParameter) {
  // b first gets a gradient in the third step: its bias correction starts there.
  const Tensor a = leaf({1.0}), b = leaf({1.0}), alone = leaf({1.0});
  Adam o({a, b}, {.lr = .1}), other({alone}, {.lr = .1});
  a.set_grad(ones({1}, f64));
  o.step();
  o.step();
  b.set_grad(full({1}, 3, f64));
  alone.set_grad(full({1}, 3, f64));
  o.step();
  other.step();
  EXPECT_EQ(b.item(), alone.item());
  EXPECT_EQ(find(o.state(), "0.step").item(), 3);
  EXPECT_EQ(find(o.state(), "1.step").item(), 1);
}

TEST(Optimizer, ChangedParametersRaiseInABackwardThatNeedsTheOldOnes) {
  const Tensor p = leaf({2.0});
  SGD o({p}, {.lr = .1});
  const Tensor y = square(p);
  p.set_grad(ones({1}, f64));
  o.step();
  EXPECT_THROW(sum(y).backward(), GraphError);
}

TEST(Optimizer, TakesAnyLayout) {
  const Tensor base = ones({4, 3}, f64);
  const Tensor p = base.t();  // (3, 4), not contiguous
  p.requires_grad_();
  const Tensor q = ones({3, 4}, f64).requires_grad_();
  const Tensor g = arange(12).to(f64).view({4, 3}).t();
  p.set_grad(g);
  q.set_grad(contiguous(g));
  Adam o({p, q}, {.lr = .1});
  o.step();
  o.step();
  EXPECT_TRUE(equal(p.detach(), q.detach()));
  EXPECT_NE(base.at({3, 2}), 1);
  const Tensor expanded = ones({2}, f64).requires_grad_();
  expanded.set_grad(expand(full({1}, 2, f64), {2}));
  SGD({expanded}, {.lr = .25}).step();
  EXPECT_THAT(expanded.to_vector(), ElementsAre(.5, .5));
}

TEST(Optimizer, GroupsHaveTheirOwnRates) {
  const Tensor a = leaf({1.0}), b = leaf({1.0});
  for (const Tensor& t : {a, b}) t.set_grad(ones({1}, f64));
  std::vector<ParamGroup> groups{{.params = {{"a", a}}, .lr = .5, .weight_decay = 1.0},
                                 {.params = {{"b", b}}}};
  SGD o(groups, {.lr = .25});
  o.step();
  EXPECT_EQ(a.item(), 0);  // 1 - .5 (1 + 1)
  EXPECT_EQ(b.item(), .75);
  EXPECT_EQ(o.groups(), 2);
  o.set_lr(1, 1);
  EXPECT_EQ(o.lr(0), .5);
  EXPECT_EQ(o.lr(1), 1);
  o.set_lr(2);
  EXPECT_EQ(o.lr(0), 2);
  EXPECT_THROW(o.lr(2), IndexError);
  EXPECT_THROW(o.set_lr(-1), ValueError);
  EXPECT_THROW(o.set_lr(std::nan("")), ValueError);
}

struct Tied : Module {
  Embedding table{4, 3};
  Linear middle{3, 3};
  Linear head{LinearOptions{.in = 3, .out = 4, .bias = false}};
  Tied() { head.weight = table.weight; }
  void visit(Visitor& v) override {
    v("table", table);
    v("middle", middle);
    v("head", head);
  }
};

TEST(Optimizer, MovesATiedTensorOnce) {
  Tied m;
  SGD o(m, {.lr = 1});
  EXPECT_EQ(o.parameters().size(), 3u);
  const Tensor before = clone(m.table.weight).detach();
  m.table.weight.set_grad(ones({4, 3}));
  o.step();
  EXPECT_TRUE(equal(m.head.weight.detach(), before - 1));
  EXPECT_EQ(SGD({before, before}).parameters().size(), 1u);
}

TEST(Optimizer, ForgetsGradients) {
  Tied m;
  SGD o(m);
  m.table.weight.set_grad(ones({4, 3}));
  o.zero_grad();
  EXPECT_FALSE(m.table.weight.grad().defined());
}

TEST(Optimizer, RefusesWhatItCannotTrain) {
  const Tensor a = leaf({1.0}), b = leaf({2.0});
  EXPECT_THROW(SGD({a * 2}), GraphError);
  EXPECT_THROW(SGD({zeros({2}, i64)}), DTypeError);
  EXPECT_THROW(SGD({Tensor()}), ShapeError);
  EXPECT_THROW(SGD({expand(zeros({1}), {3})}), ShapeError);
  EXPECT_THROW(SGD(NamedTensors{{"a", a}, {"a", b}}), ValueError);
  EXPECT_THROW(SGD(std::vector<ParamGroup>{{{{"a", a}}}, {{{"b", a}}}}), ValueError);
  EXPECT_THROW(SGD({a}, {.lr = -1}), ValueError);
  EXPECT_THROW(SGD({a}, {.momentum = 1}), ValueError);
  EXPECT_THROW(SGD({a}, {.nesterov = true}), ValueError);
  EXPECT_THROW(SGD({a}, {.momentum = .9, .dampening = .1, .nesterov = true}), ValueError);
  EXPECT_THROW(Adam({a}, {.beta1 = 1}), ValueError);
  EXPECT_THROW(Adam({a}, {.beta2 = -.1}), ValueError);
  EXPECT_THROW(Adam({a}, {.eps = std::nan("")}), ValueError);
  EXPECT_THROW(AdamW({a}, {.weight_decay = -1}), ValueError);
}

TEST(Optimizer, StateGoesByNameNotByPosition) {
  const Tensor a = leaf({1.0}), b = leaf({1.0, 2.0});
  Adam o(NamedTensors{{"a", a}, {"b", b}}, {.lr = .1});
  a.set_grad(ones({1}, f64));
  b.set_grad(full({2}, 2, f64));
  o.step();
  const NamedTensors saved = snapshot(o.state());
  const Tensor a2 = a.detach().clone().requires_grad_(), b2 = b.detach().clone().requires_grad_();
  Adam back(NamedTensors{{"b", b2}, {"a", a2}}, {.lr = .7});
  back.load_state(saved);
  EXPECT_EQ(back.lr(), .1);
  a2.set_grad(ones({1}, f64));
  b2.set_grad(full({2}, 2, f64));
  o.step();
  back.step();
  EXPECT_TRUE(equal(a, a2));
  EXPECT_TRUE(equal(b, b2));
}

TEST(Optimizer, ReportsEveryMisfitTogether) {
  const Tensor a = leaf({1.0}), b = leaf({1.0, 2.0});
  Adam o(NamedTensors{{"a", a}, {"b", b}});
  b.set_grad(ones({2}, f64));
  o.step();
  NamedTensors state = snapshot(o.state());  // group.0.lr, a.step, b.step, b.exp_avg, b.exp_avg_sq
  state[1].first = "c.step";
  state[3].second = zeros({2});
  state.pop_back();
  EXPECT_THAT(message_of<ShapeError>([&] { o.load_state(state); }),
              AllOf(HasSubstr("missing: a.step, b.exp_avg_sq;"), HasSubstr("extra: c.step;"),
                    HasSubstr("b.exp_avg: is [2] f32, need [2] f64")));
  EXPECT_THROW(SGD({a}).load_state(state), ShapeError);
}

TEST(Optimizer, LoadingAFreshStateForgetsTheMoments) {
  const Tensor a = leaf({1.0});
  Adam o({a});
  const NamedTensors fresh = snapshot(o.state());
  a.set_grad(ones({1}, f64));
  o.step();
  EXPECT_EQ(o.state().size(), 4u);
  o.load_state(fresh);
  EXPECT_EQ(o.state().size(), 2u);
}

TEST(Optimizer, GivesTheSameBitsOnAnyNumberOfThreads) {
  const int before = threads();
  Tensors first;
  for (int n : {1, 2, 8}) {
    set_threads(n);
    manual_seed(4);
    Tensors all;
    for (int64_t size : {1, 7, 16384, 3, 100001, 0, 500}) {
      all.push_back(randn({size}).requires_grad_());
    }
    AdamW adam(all, {.lr = .1});
    SGD sgd(all, {.lr = .1, .momentum = .9});
    for (int step = 0; step < 3; ++step) {
      for (const Tensor& t : all) t.set_grad(randn(t.shape()));
      adam.step();
      sgd.step();
    }
    if (first.empty()) first = all;
    for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(equal(first[i], all[i])) << n << " " << i;
  }
  set_threads(before);
}

}  // namespace
