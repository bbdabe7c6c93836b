// Scheduled sampling: what the decoder reads while it learns.
#include <gtest/gtest.h>

#include <limits>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"
#include "tests/nn/measures.h"
#include "tests/nn/seq2seq/models.h"

namespace fovea {
namespace {

using namespace testing;

// A model so sure of itself that its draws are its likeliest tokens.
std::unique_ptr<EncoderDecoder> sure_model(const Kind& k) {
  auto model = model_of(k);
  const NoGrad scope;
  dynamic_cast<Seq2Seq&>(*model).decoder.output.weight.mul_(1000);
  return model;
}

// Row t is of what follows tokens 0 ... t: those of the target, or those it said itself.
TEST(ScheduledSampling, ZeroShowsTheTargetAndOneWhatTheModelSaid) {
  for (const Kind& k : recurrent_kinds()) {
    const auto model = sure_model(k);
    const Tensor source = a_source(), target = a_target(), forced = model->logits(source, target);
    EXPECT_TRUE(equal(model->logits(source, target, {.probability = 0}), forced)) << k.str();

    const auto decoding = model->decoding(source);
    const Tensor said =
        generate(*decoding, begin_of(source), {.max_tokens = 4, .sample = {.temperature = 0}});
    const Tensor own = model->logits(source, said);
    ASSERT_GT(worst(own, forced), 1) << k.str();
    const double size = max(abs(own)).item();
    EXPECT_LE(worst(model->logits(source, target, {.probability = 1}), own), 1e-5 * size)
        << k.str();
  }
}

// The draws of a generator of the caller's, one token after another.
TEST(ScheduledSampling, DrawsAsALoopByHandDoes) {
  const auto model = model_of({});
  const Tensor source = a_source(), target = a_target();
  for (const double sampling : {0.5, 1.0}) {
    Generator g(5), by_hand(5);
    const Tensor found = model->logits(source, target, {.probability = sampling, .generator = &g});
    const auto decoding = model->decoding(source);
    Tensor ids = target.narrow(1, 0, 1);
    int64_t replaced = 0;
    for (int64_t t = 0; t < 5; ++t) {
      const Tensor row = decoding->next(ids);
      EXPECT_LE(worst(found.select(1, t), row), 1e-5) << t;
      if (t == 4) break;
      const Tensor drawn = unsqueeze(sample_token(row, {}, &by_hand), 1);
      const Tensor coin = bernoulli(full({3, 1}, sampling), &by_hand) > 0;
      ids = where(coin, drawn, target.narrow(1, t + 1, 1));
      replaced += sum(coin).item<int64_t>();
    }
    EXPECT_EQ(replaced == 12, sampling == 1.0);
    EXPECT_GT(replaced, 0);
  }
}

TEST(ScheduledSampling, ReplacesEachTokenWithThatProbability) {
  const auto model = sure_model({});
  constexpr int64_t kTexts = 400;
  const Tensor source = expand(tensor({{3, 4, 5}}), {kTexts, 3});
  const Tensor first = model->logits(source.narrow(0, 0, 1), tensor({{kBegin}}));
  const int64_t own = argmax(first.select(1, 0), -1).item<int64_t>();
  const int64_t other = own == 2 ? 3 : 2;
  const Tensor target = expand(tensor({{kBegin, other}}), {kTexts, 2});
  manual_seed(6);
  const Tensor logits = model->logits(source, target, {.probability = 0.25});
  const Tensor forced = model->logits(source, target);
  EXPECT_LE(worst(logits.select(1, 0), forced.select(1, 0)), 1e-2);  // of numbers of size 1000
  const Tensor away = amax(abs(logits.select(1, 1) - forced.select(1, 1)), -1);
  const double share = mean(to(away > 1, f32)).item();
  EXPECT_NEAR(share, 0.25, 0.07);  // three deviations
}

TEST(ScheduledSampling, LeavesAGradient) {
  const auto model = model_of({});
  sum(square(model->logits(a_source(), a_target(), {.probability = 1}))).backward();
  for (const auto& [name, p] : model->named_parameters()) {
    ASSERT_TRUE(p.grad().defined()) << name;
    EXPECT_GT(max(abs(p.grad())).item(), 0) << name;
  }
}

TEST(ScheduledSampling, RefusesWhatIsNoProbability) {
  const auto model = model_of({});
  const auto transformer = model_of({.decoder = "transformer"});
  for (const double bad : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    for (const EncoderDecoder* m : {model.get(), transformer.get()}) {
      EXPECT_THROW((void)m->logits(a_source(), a_target(), {.probability = bad}), ValueError);
    }
  }
  EXPECT_THROW((void)transformer->logits(a_source(), a_target(), {.probability = 0.5}), ValueError);
  EXPECT_NO_THROW((void)transformer->logits(a_source(), a_target(), {.probability = 0}));
}

// A target that cannot be read is refused alike, whoever chooses its tokens.
TEST(ScheduledSampling, RefusesTargetsAlike) {
  const auto model = model_of({});
  for (const double sampling : {0.0, 1.0}) {
    const ScheduledSampling sampled{.probability = sampling};
    for (const Tensor& bad : {Tensor(), tensor({1, 2}), zeros({3, 0}, i64), zeros({2, 4}, i64)}) {
      EXPECT_THROW((void)model->logits(a_source(), bad, sampled), ShapeError) << sampling;
    }
    EXPECT_THROW((void)model->logits(a_source(), zeros({3, 4}), sampled), DTypeError);
    EXPECT_EQ(model->logits(a_source(), begin_of(a_source()), sampled).size(1), 1);
  }
}

}  // namespace
}  // namespace fovea
