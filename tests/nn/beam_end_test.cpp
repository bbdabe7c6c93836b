// When beam search ends, over a chain whose texts can be counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/core/error.h"
#include "fovea/nn/transformer/generate.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

// What follows depends on the last token alone: row i of p are the probabilities behind token i.
class Chain : public Decoding {
 public:
  explicit Chain(const Tensor& p) : logits_(log(to(p, f64))) {}
  Tensor next(const Tensor& ids) override {
    return index_select(logits_, 0, fovea::select(ids, 1, -1));
  }
  void select(const Tensor&) override {}

 private:
  Tensor logits_;
};

constexpr int64_t kEnd = 3;
using Ids = std::vector<int64_t>;

std::vector<Hypothesis> found(const Tensor& p, BeamOptions o) {
  Chain chain(p);
  o.stop = kEnd;
  return beam_search(chain, tensor({{0}}), o)[0];
}

// Two texts end soon and are unlikely; the likeliest takes a step longer.
TEST(BeamSearch, GoesOnWhileATextMayStillBecomeTheBest) {
  const Tensor p = tensor(
      {{0., 0.55, 0.01, 0.44}, {0., 0., 0.9, 0.1}, {0., 0., 0., 1.}, {0.25, 0.25, 0.25, 0.25}});
  for (const int64_t beams : {1, 2, 3}) {
    const auto all = found(p, {.beams = beams, .max_tokens = 9});
    ASSERT_EQ(static_cast<int64_t>(all.size()), beams);
    EXPECT_EQ(all[0].ids, (Ids{1, 2, kEnd})) << beams;
    EXPECT_NEAR(std::exp(all[0].log_probability), 0.495, 1e-7);
    if (beams > 1) {
      EXPECT_EQ(all[1].ids, (Ids{kEnd}));
    }
  }
}

// One beam takes no stop that is the second best, though its text is likelier in the end.
TEST(BeamSearch, OneBeamTakesNoStopButTheBest) {
  const Tensor p =
      tensor({{0., 0.6, 0., 0.4}, {0., 0., 0.55, 0.45}, {0., 0., 0., 1.}, {0., 0., 0., 1.}});
  const auto one = found(p, {.beams = 1, .max_tokens = 9});
  EXPECT_EQ(one[0].ids, (Ids{1, 2, kEnd}));
  EXPECT_NEAR(std::exp(one[0].log_probability), 0.33, 1e-7);
  EXPECT_EQ(found(p, {.beams = 2, .max_tokens = 9})[0].ids, (Ids{kEnd}));
}

// By its mean the long text wins: (log 0.4 - 0.39) / 7.5 = -0.17 against log 0.6 = -0.51.
TEST(BeamSearch, ALengthPenaltyLetsLongTextsCatchUp) {
  const double e = std::exp(-0.01);
  const Tensor p =
      tensor({{0., 0.4, 0., 0.6}, {0., e, 0., 1 - e}, {0., 0., 0., 1.}, {0., 0., 0., 1.}});
  const auto mean = found(p, {.beams = 1, .max_tokens = 40, .length_penalty = 1});
  EXPECT_EQ(mean[0].ids.size(), 40u);
  EXPECT_NEAR(mean[0].score, (std::log(0.4) - 0.39) / 7.5, 1e-6);
  EXPECT_EQ(found(p, {.beams = 1, .max_tokens = 40})[0].ids, (Ids{kEnd}));
  EXPECT_EQ(found(p, {.beams = 1, .max_tokens = 40, .length_penalty = -1})[0].ids, (Ids{kEnd}));
}

TEST(BeamSearch, RefusesNaN) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const Tensor p = tensor({{0.5, none, 0.5, 0.}, {1., 0., 0., 0.}});
  try {
    (void)found(p, {.beams = 2, .max_tokens = 3});
    FAIL() << "nothing was thrown";
  } catch (const ValueError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("beam_search: "));
    EXPECT_THAT(e.what(), ::testing::HasSubstr("NaN"));
  }
}

TEST(SampleToken, GreedyRefusesWhatDrawingRefuses) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const SampleOptions greedy{.temperature = 0};
  EXPECT_THROW((void)sample_token(tensor({0., none, 1.}), greedy), ValueError);
  EXPECT_THROW((void)sample_token(full({2, 3}, -INFINITY), greedy), ValueError);
  for (const double temperature : {0., 1.}) {
    EXPECT_THROW((void)sample_token(zeros({2, 0}), {.temperature = temperature}), ShapeError);
    EXPECT_THROW((void)sample_token(full({}, 1.), {.temperature = temperature}), ShapeError);
  }
  EXPECT_EQ(sample_token(tensor({-INFINITY, 2.}), greedy).item<int64_t>(), 1);
}

}  // namespace
}  // namespace fovea
