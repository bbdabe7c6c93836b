// The recurrent attention model: which loss reaches which weights, and what the retina sees.
#include <gtest/gtest.h>

#include <functional>

#include "examples/glimpse/data.h"
#include "examples/glimpse/model.h"
#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/nn/distributions.h"
#include "fovea/ops/ops.h"

namespace fovea::glimpse {
namespace {

// Image (1, h, w) whose pixel (y, x) is 10 y + x.
Tensor ramp(int64_t h, int64_t w) {
  Tensor image = Tensor::empty({1, h, w});
  for (int64_t y = 0; y < h; ++y) {
    for (int64_t x = 0; x < w; ++x) {
      image.data<float>()[y * w + x] = static_cast<float>(10 * y + x);
    }
  }
  return image;
}

TEST(GlimpseSensor, CutsASquareAroundTheCentre) {
  const Tensor seen = see(ramp(6, 6), tensor({{0.0, 0.0}}), {.patch = 2, .scales = 1});
  EXPECT_EQ(seen.to_vector(), (std::vector<double>{22, 23, 32, 33}));
}

TEST(GlimpseSensor, TakesXToTheRightAndYDown) {
  const Tensor seen = see(ramp(6, 6), tensor({{2.0 / 3, -2.0 / 3}}), {.patch = 2, .scales = 1});
  EXPECT_EQ(seen.to_vector(), (std::vector<double>{4, 5, 14, 15}));
}

TEST(GlimpseSensor, SeesZerosBeyondTheEdges) {
  const Tensor image = ramp(4, 4) + 1;
  const Tensor left = see(image, tensor({{-1.0, -1.0}}), {.patch = 2, .scales = 1});
  EXPECT_EQ(left.to_vector(), (std::vector<double>{0, 0, 0, 1}));
  const Tensor right = see(image, tensor({{1.0, 1.0}}), {.patch = 2, .scales = 1});
  EXPECT_EQ(right.to_vector(), (std::vector<double>{34, 0, 0, 0}));
  const Tensor whole = see(image, tensor({{0.0, 0.0}}), {.patch = 8, .scales = 1});
  EXPECT_EQ(whole.numel(), 64);
  EXPECT_EQ(sum(whole).item(), sum(image).item());
}

TEST(GlimpseSensor, AveragesCoarserScales) {
  const Tensor seen = see(ramp(4, 4), tensor({{0.0, 0.0}}), {.patch = 2, .scales = 3});
  ASSERT_EQ(seen.numel(), 12);
  const std::vector<double> v = seen.to_vector();
  EXPECT_EQ((std::vector<double>(v.begin(), v.begin() + 4)), (std::vector<double>{11, 12, 21, 22}));
  // Means of 2 x 2 blocks: 5.5 = (0 + 1 + 10 + 11) / 4 in the corner.
  EXPECT_EQ((std::vector<double>(v.begin() + 4, v.begin() + 8)),
            (std::vector<double>{5.5, 7.5, 25.5, 27.5}));
  // 4 x 4 blocks of the image in a frame of zeros: a quarter of each mean.
  EXPECT_EQ((std::vector<double>(v.begin() + 8, v.end())),
            (std::vector<double>{1.375, 1.875, 6.375, 6.875}));
}

TEST(GlimpseSensor, RefusesWhatItCannotSee) {
  const Tensor image = ramp(4, 4), at = zeros({1, 2});
  EXPECT_THROW((void)see(image, zeros({2, 2}), {}), ShapeError);
  EXPECT_THROW((void)see(image[0], at, {}), ShapeError);
  EXPECT_THROW((void)see(image.to(f64), at, {}), DTypeError);
  EXPECT_THROW((void)see(image, zeros({1, 2}).requires_grad_(), {}), GraphError);
}

ModelOptions small() {
  return {.retina = {.patch = 3, .scales = 2}, .glimpses = 4, .hidden = 16, .classes = 3};
}

// The largest gradient among parameters whose name begins so.
double reached(const Module& m, const std::string& prefix) {
  double most = 0;
  for (const auto& [name, p] : m.named_parameters()) {
    if (!name.starts_with(prefix) || !p.grad().defined()) continue;
    most = std::max(most, max(abs(p.grad())).item());
  }
  return most;
}

struct Reach {
  double glimpse, core, location, action, baseline;
};

Reach reach_of(const std::function<Tensor(const HybridLoss&)>& part) {
  manual_seed(3);
  const RecurrentAttention model(small());
  Generator g(5);
  const Tensor images = rand({8, 9, 9}, f32, &g), labels = randint(0, 3, {8}, &g);
  part(hybrid_loss(model.look(images, g), labels)).backward();
  return {reached(model, "glimpse."), reached(model, "core."), reached(model, "location."),
          reached(model, "action."), reached(model, "baseline.")};
}

TEST(GlimpseModel, ClassificationLeavesLocationAndBaselineAlone) {
  const Reach r = reach_of([](const HybridLoss& l) { return l.action; });
  EXPECT_GT(r.glimpse, 0);
  EXPECT_GT(r.core, 0);
  EXPECT_GT(r.action, 0);
  EXPECT_EQ(r.location, 0);
  EXPECT_EQ(r.baseline, 0);
}

TEST(GlimpseModel, PolicyTrainsTheLocationNetworkAlone) {
  const Reach r = reach_of([](const HybridLoss& l) { return l.policy; });
  EXPECT_GT(r.location, 0);
  EXPECT_EQ(r.glimpse, 0);
  EXPECT_EQ(r.core, 0);
  EXPECT_EQ(r.action, 0);
  EXPECT_EQ(r.baseline, 0);
}

TEST(GlimpseModel, BaselineTrainsItselfAlone) {
  const Reach r = reach_of([](const HybridLoss& l) { return l.baseline; });
  EXPECT_GT(r.baseline, 0);
  EXPECT_EQ(r.glimpse, 0);
  EXPECT_EQ(r.core, 0);
  EXPECT_EQ(r.location, 0);
  EXPECT_EQ(r.action, 0);
}

TEST(GlimpseModel, ScoreOfASampleIsEpsOverSigma) {
  // mean .3, sigma .1, eps 1: d log pi / d mean = eps / sigma = 10 when the sample is a constant,
  // and 0 when it is not.
  const Tensor mean = full({}, 0.3, f64).requires_grad_();
  const Tensor sample = mean.detach() + 0.1;
  Normal(mean, full({}, 0.1, f64)).log_prob(sample).backward();
  EXPECT_NEAR(mean.grad().item(), 10, 1e-12);
}

TEST(GlimpseModel, PolicyGradientIsRewardMinusBaselineTimesScore) {
  // One image, one choice: d policy / d mean = -(R - b) eps / sigma.
  Episode e;
  e.log_probs = log(tensor({{0.25, 0.75}}));
  e.mean = full({1, 1, 2}, 0.3).requires_grad_();
  e.sample = full({1, 1, 2}, 0.4);
  e.baseline = full({1, 1}, 0.25).requires_grad_();
  const HybridLoss right = hybrid_loss(e, tensor({1}), {.std = 0.1, .policy_weight = 1});
  EXPECT_EQ(right.reward.item(), 1);
  const Tensor g = grad(right.policy, {e.mean})[0];
  EXPECT_NEAR(g.at({0, 0, 0}), -7.5, 1e-4);
  EXPECT_NEAR(g.at({0, 0, 1}), -7.5, 1e-4);
  EXPECT_NEAR(right.baseline.item(), 0.5625, 1e-6);
  EXPECT_NEAR(grad(right.baseline, {e.baseline})[0].item(), -1.5, 1e-5);
  const HybridLoss wrong = hybrid_loss(e, tensor({0}), {.std = 0.1, .policy_weight = 1});
  EXPECT_NEAR(grad(wrong.policy, {e.mean})[0].at({0, 0, 0}), 2.5, 1e-4);
}

TEST(GlimpseModel, SamplesAreDetachedAndLocationsInsideTheImage) {
  manual_seed(1);
  ModelOptions o = small();
  o.std = 2;
  const RecurrentAttention model(o);
  Generator g(2);
  const Episode e = model.look(rand({5, 9, 9}, f32, &g), g);
  ASSERT_EQ(e.locations.size(), 4U);
  EXPECT_FALSE(e.sample.requires_grad());
  EXPECT_GT(max(abs(e.sample)).item(), 1);
  for (const Tensor& at : e.locations) EXPECT_LE(max(abs(at)).item(), 1);
  EXPECT_EQ(e.mean.shape(), (Shape{3, 5, 2}));
  EXPECT_EQ(e.baseline.shape(), (Shape{3, 5}));
}

TEST(GlimpseModel, OneGlimpseHasNoChoice) {
  ModelOptions o = small();
  o.glimpses = 1;
  const RecurrentAttention model(o);
  Generator g(2);
  const HybridLoss loss = hybrid_loss(model.look(rand({2, 9, 9}, f32, &g), g), tensor({0, 1}));
  EXPECT_TRUE(loss.total.same_as(loss.action));
  loss.total.backward();
}

ImageDataset digits(int64_t n) {
  Generator g(4);
  return {rand({n, 28, 28}, f32, &g), randint(0, 10, {n}, &g)};
}

TEST(GlimpseData, ABatchIsTheItemsAskedFor) {
  const ImageDataset d = digits(20);
  const Images images(d, Task::original, 1, Purpose::train_images);
  const std::vector<int64_t> items{7, 0, 19};
  const Batch b = images.batch(items.data(), 3, 2);
  ASSERT_EQ(b.images.shape(), (Shape{6, 28, 28}));
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(equal(b.images[i], d.images[items[static_cast<size_t>(i % 3)]]));
    EXPECT_EQ(b.labels[i].item(), d.labels[items[static_cast<size_t>(i % 3)]].item());
  }
  EXPECT_EQ(images.range(15, 100).labels.numel(), 5);
}

TEST(GlimpseData, TranslationKeepsTheImageAndMovesWithTheEpoch) {
  const ImageDataset d = digits(50);
  Images images(d, Task::translated, 1, Purpose::train_images);
  EXPECT_EQ(images.height(), 60);
  const Tensor first = images.range(0, 50).images;
  EXPECT_NEAR(sum(first).item(), sum(d.images).item(), 1);
  images.set_epoch(1);
  const Tensor second = images.range(0, 50).images;
  EXPECT_FALSE(equal(first, second));
  images.set_epoch(0);
  EXPECT_TRUE(equal(first, images.range(0, 50).images));
  // An item does not depend on the batch it is in.
  EXPECT_TRUE(equal(first[30], images.range(30, 1).images[0]));
}

TEST(GlimpseData, ClutterOnlyAdds) {
  const ImageDataset d = digits(50);
  const Images clear(d, Task::translated, 1, Purpose::test);
  const Images cluttered(d, Task::cluttered, 1, Purpose::test);
  const Tensor a = clear.range(0, 50).images, b = cluttered.range(0, 50).images;
  EXPECT_TRUE(all(b >= a));
  EXPECT_GT(sum(b).item(), sum(a).item() + 50 * 100 * 0.25);
}

}  // namespace
}  // namespace fovea::glimpse
