// Padding at the right of source and target changes nothing: no logit, no weight, no gradient.
#include <gtest/gtest.h>

#include "fovea/core/engine.h"
#include "fovea/ops/ops.h"
#include "tests/nn/measures.h"
#include "tests/nn/seq2seq/models.h"

namespace fovea {
namespace {

using namespace testing;

std::string name_of_padded(const ::testing::TestParamInfo<Kind>& info) { return info.param.str(); }

class RightPadding : public ::testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<EncoderDecoder> model = model_of(GetParam(), f64);
  // One sentence of 3 words, one of 3 tokens of target; and the same two with padding behind.
  const Tensor source = tensor({{6, 2, 3}}), target = tensor({{kBegin, 5, 3}});
  const Tensor wide = tensor({{6, 2, 3, kPad, kPad}}), late = tensor({{kBegin, 5, 3, kPad}});
};

TEST_P(RightPadding, ChangesNoLogits) {
  const Tensor plain = model->logits(source, target);
  EXPECT_LE(worst(model->logits(wide, late).narrow(1, 0, 3), plain), 1e-12);
  // Nor do longer neighbours.
  const Tensor batch = model->logits(a_source(), a_target()).narrow(0, 1, 1).narrow(1, 0, 3);
  EXPECT_LE(worst(batch, plain), 1e-12);
}

TEST_P(RightPadding, GetsNoWeight) {
  if (!GetParam().looks()) return;
  const Tensor plain = model->alignment(source, target);
  const Tensor padded = model->alignment(wide, late).narrow(2, 0, 3);
  EXPECT_LE(worst(padded.narrow(3, 0, 3), plain), 1e-12);
  EXPECT_EQ(max(abs(padded.narrow(3, 3, 2))).item(), 0);
}

TEST_P(RightPadding, ChangesNoGradient) {
  manual_seed(4);
  const Tensor wanted = randn({1, 3, kSymbols}, f64);
  const Tensors parameters = model->parameters();
  const auto gradients = [&](const Tensor& s, const Tensor& t) {
    const Tensor loss = sum(model->logits(s, t).narrow(1, 0, 3) * wanted);
    return grad(loss, parameters, {.allow_unused = true});
  };
  const Tensors plain = gradients(source, target), padded = gradients(wide, late);
  for (size_t i = 0; i < plain.size(); ++i) {
    ASSERT_EQ(plain[i].defined(), padded[i].defined()) << i;
    if (plain[i].defined()) {
      EXPECT_LE(worst(padded[i], plain[i]), 1e-11) << i;
    }
  }
}

// Also of a sentence of padding alone, which says nothing, and says it without NaN.
TEST_P(RightPadding, AloneIsNoReasonForNaN) {
  const Tensor none = tensor({{kPad, kPad}, {3, kPad}}), some = tensor({{kBegin, 2}, {kBegin, 2}});
  const Tensor logits = model->logits(none, some);
  EXPECT_TRUE(all(isfinite(logits)));
  sum(square(logits)).backward();
  for (const auto& [name, p] : model->named_parameters()) {
    if (!p.grad().defined()) continue;
    EXPECT_TRUE(all(isfinite(p.grad()))) << name;
  }
  if (!GetParam().looks()) return;
  EXPECT_EQ(max(abs(model->alignment(none, some).narrow(0, 0, 1))).item(), 0);
}

// A model that knows no padding is one that never meets it.
TEST(Seq2SeqPadding, NeedsNoIndex) {
  for (const Kind& k : recurrent_kinds()) {
    Seq2SeqOptions o = options_of(k, f64);
    manual_seed(11);
    const Seq2Seq with(o);
    o.padding_idx = -1;
    manual_seed(11);
    const Seq2Seq without(o);
    const Tensor source = tensor({{3, 4, 5}, {6, 2, 2}}), target = tensor({{1, 2}, {1, 6}});
    EXPECT_LE(worst(without.logits(source, target), with.logits(source, target)), 1e-12) << k.str();
    if (!k.looks()) continue;
    const auto a = with.decoding(source), b = without.decoding(source);
    (void)a->next(target);
    (void)b->next(target);
    EXPECT_LE(worst(b->coverage(), a->coverage()), 1e-12) << k.str();
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, RightPadding, ::testing::ValuesIn(all_kinds()), name_of_padded);

}  // namespace
}  // namespace fovea
