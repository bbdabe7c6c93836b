#include "fovea/optim/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"
#include "fovea/optim/sgd.h"

namespace {

using namespace fovea;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

SGD make(double lr) { return SGD({zeros({1})}, {.lr = lr}); }

std::vector<double> run(LrRule rule, int steps, double lr = 1) {
  SGD o = make(lr);
  Schedule s(o, std::move(rule));
  std::vector<double> out{o.lr()};
  for (int i = 1; i < steps; ++i) {
    s.step();
    out.push_back(o.lr());
  }
  return out;
}

auto near(std::vector<double> want) { return Pointwise(DoubleNear(1e-14), std::move(want)); }

TEST(Schedule, Steps) {
  EXPECT_THAT(run(StepLR{.step_size = 2, .gamma = .5}, 5, 2), near({2, 2, 1, 1, .5}));
  EXPECT_THROW(run(StepLR{.step_size = 0}, 1), ValueError);
}

TEST(Schedule, FollowsTheCosine) {
  const double h = std::sqrt(.5);
  EXPECT_THAT(run(CosineLR{.steps = 4, .eta_min = .2}, 7, 1.2),
              near({1.2, .7 + .5 * h, .7, .7 - .5 * h, .2, .2, .2}));
}

TEST(Schedule, WarmsUpThenRunsTheOther) {
  EXPECT_THAT(run(WarmUp{.steps = 4}, 6), near({.25, .4375, .625, .8125, 1, 1}));
  EXPECT_THAT(run(WarmUp{.steps = 2, .start_factor = 0.0, .after = StepLR{.step_size = 1}}, 5),
              near({0, .5, 1, .1, .01}));
  EXPECT_THAT(run([](int64_t t, double base) { return base / double(1 + t); }, 3),
              near({1, .5, 1. / 3}));
  EXPECT_THROW(run(LrRule(), 1), ValueError);
}

TEST(Schedule, KeepsTheRatioOfGroups) {
  SGD o(std::vector<ParamGroup>{{.params = {{"a", zeros({1})}}, .lr = 4.0},
                                {.params = {{"b", zeros({1})}}}},
        {.lr = 1});
  Schedule s(o, StepLR{.step_size = 1, .gamma = .5});
  s.step();
  EXPECT_EQ(o.lr(0), 2);
  EXPECT_EQ(o.lr(1), .5);
}

TEST(Schedule, GoesOnFromItsState) {
  SGD a = make(1);
  Schedule s(a, CosineLR{.steps = 10});
  for (int i = 0; i < 4; ++i) s.step();
  SGD b = make(.3);
  Schedule r(b, CosineLR{.steps = 10});
  r.load_state(s.state());
  EXPECT_EQ(b.lr(), a.lr());
  EXPECT_EQ(r.t(), 4);
  s.step();
  r.step();
  EXPECT_EQ(b.lr(), a.lr());
  EXPECT_THROW(r.load_state({{"t", zeros({}, i64)}}), ShapeError);
}

std::vector<double> plateau(const PlateauOptions& o, const std::vector<double>& metrics,
                            double lr = 1) {
  SGD sgd = make(lr);
  ReduceLROnPlateau p(sgd, o);
  std::vector<double> out;
  for (double m : metrics) {
    p.step(m);
    out.push_back(sgd.lr());
  }
  return out;
}

TEST(ReduceLROnPlateau, ForgivesUpToPatience) {
  // Bad epochs 2, 3, 4: the third exceeds a patience of 2.
  EXPECT_THAT(plateau({.factor = .5, .patience = 2}, {1, 1, 1, 1, 1, 1, 1, .5}),
              ElementsAre(1, 1, 1, .5, .5, .5, .25, .25));
  EXPECT_THAT(plateau({.factor = .5, .patience = 0}, {3, 2, 1, 1, 2}),
              ElementsAre(1, 1, 1, .5, .25));
  EXPECT_THAT(plateau({.factor = .5, .patience = 0}, {1, std::nan("")}), ElementsAre(1, .5));
}

TEST(ReduceLROnPlateau, MeasuresByThreshold) {
  // min, relative: better is below 10 * .9 = 9
  EXPECT_THAT(plateau({.factor = .5, .patience = 0, .threshold = .1}, {10, 9, 8.9}),
              ElementsAre(1, .5, .5));
  EXPECT_THAT(
      plateau({.factor = .5, .patience = 0, .threshold = .1, .threshold_mode = ThresholdMode::abs},
              {10, 9.95, 9.8}),
      ElementsAre(1, .5, .5));
  EXPECT_THAT(plateau({.mode = PlateauMode::max, .factor = .5, .patience = 0, .threshold = .1},
                      {10, 10.9, 11.1, 5}),
              ElementsAre(1, .5, .5, .25));
  EXPECT_THAT(plateau({.mode = PlateauMode::max,
                       .factor = .5,
                       .patience = 0,
                       .threshold = 1,
                       .threshold_mode = ThresholdMode::abs},
                      {-10, -9.5, -8}),
              ElementsAre(1, .5, .5));
}

TEST(ReduceLROnPlateau, CoolsDownAndStopsAtTheFloor) {
  // Reduced at 2; epochs 3 and 4 cool down; 5 is bad again.
  EXPECT_THAT(plateau({.factor = .5, .patience = 0, .cooldown = 2}, {1, 1, 1, 1, 1}),
              ElementsAre(1, .5, .5, .5, .25));
  EXPECT_THAT(plateau({.factor = .5, .patience = 0, .min_lr = .4}, {1, 1, 1, 1}),
              ElementsAre(1, .5, .4, .4));
  EXPECT_THAT(plateau({.factor = .5, .patience = 0}, {1, 1}, 1e-8), ElementsAre(1e-8, 1e-8));
}

TEST(ReduceLROnPlateau, GoesOnFromItsState) {
  SGD a = make(1);
  ReduceLROnPlateau p(a, {.factor = .5, .patience = 2, .cooldown = 1});
  for (double m : {1., 2., 2.}) p.step(m);
  SGD b = make(1);
  ReduceLROnPlateau q(b, {.factor = .5, .patience = 2, .cooldown = 1});
  q.load_state(p.state());
  EXPECT_EQ(q.best(), 1);
  for (double m : {2., 2., 2., 2., 2.}) {
    p.step(m);
    q.step(m);
    EXPECT_EQ(a.lr(), b.lr());
  }
  EXPECT_EQ(a.lr(), .25);
}

TEST(ReduceLROnPlateau, RefusesWrongOptions) {
  SGD o = make(1);
  EXPECT_THROW(ReduceLROnPlateau(o, {.factor = 1}), ValueError);
  EXPECT_THROW(ReduceLROnPlateau(o, {.patience = -1}), ValueError);
  EXPECT_THROW(ReduceLROnPlateau(o, {.threshold = std::nan("")}), ValueError);
}

}  // namespace
