// Where models say that they looked, and what they add up of it.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"
#include "tests/nn/measures.h"
#include "tests/nn/seq2seq/models.h"

namespace fovea {
namespace {

using namespace testing;

TEST(Alignment, SumsTo1OverTheWords) {
  for (const Kind& k : all_kinds()) {
    if (!k.looks()) continue;
    const auto model = model_of(k);
    const Tensor a = model->alignment(a_source(), a_target());
    const bool heads = k.decoder == "transformer";
    ASSERT_EQ(a.shape().str(), Shape({3, heads ? 2 : 1, 5, 5}).str()) << k.str();
    EXPECT_FALSE(a.requires_grad());
    EXPECT_GE(min(a).item(), 0);
    const Tensor total = sum(a, -1);
    EXPECT_LE(max(total).item(), 1 + 1e-6) << k.str();
    // Windows of local-m have left a sentence of 3 words behind at step 6 alone, 3 on either side.
    if (k.attention != "local-p") {
      EXPECT_GE(min(total).item(), 1 - 1e-6) << k.str();
    } else {
      EXPECT_GT(min(total).item(), 0);
    }
    const Tensor padding = reshape(a_source() == kPad, {3, 1, 1, 5});
    EXPECT_EQ(max(where(padding, a, zeros({}))).item(), 0) << k.str();
  }
}

// Of two layers, that which speaks: the heads of the last.
TEST(Alignment, OfATransformerIsThatOfItsLastLayer) {
  const auto model = model_of({.encoder = "transformer", .decoder = "transformer", .layers = 2});
  const auto& m = dynamic_cast<const Transformer&>(*model);
  const Tensor source = a_source(), target = a_target();
  Tensor first, last, asked;
  const Tensor x = m.positions(m.target(target) * std::sqrt(8.0));
  const Tensor mine = unsqueeze(unsqueeze(m.keep_mask(target), 1), 1);
  const Tensor memory = m.encode(source);
  const auto into = [&](Tensor* weights) {
    return DecodeOptions{
        .keep_mask = mine, .memory_keep_mask = m.keep_mask(source), .weights = weights};
  };
  (void)m.decoder.layers[1](m.decoder.layers[0](x, memory, into(&first)), memory, into(&last));
  (void)m.decoder(x, memory, into(&asked));
  EXPECT_TRUE(equal(asked, last));
  EXPECT_LE(worst(model->alignment(source, target), last), 1e-6);
  EXPECT_GT(worst(first, last), 1e-2);
}

TEST(Alignment, IsRefusedByWhatLooksNowhere) {
  EXPECT_THROW((void)model_of({.attention = "none"})->alignment(a_source(), a_target()),
               ValueError);
  Transformer m({.source_vocab = 4,
                 .target_vocab = 4,
                 .layer = {.d_model = 4},
                 .encoder_layers = 1,
                 .decoder_layers = 0});
  EXPECT_THROW((void)m.alignment(tensor({{1}}), tensor({{1}})), ValueError);
}

// In training mode as logits are: with dropout.
TEST(Alignment, DropsWhileTraining) {
  Seq2SeqOptions o = options_of({});
  o.dropout = 0.5;
  Seq2Seq model(o);
  const auto a = [&] { return model.alignment(a_source(), a_target()); };
  EXPECT_GT(worst(a(), a()), 1e-3);
  model.eval();
  EXPECT_TRUE(equal(a(), a()));
}

TEST(DecodingCoverage, IsTheSumOfWhatWasLookedAt) {
  for (const Kind& k : recurrent_kinds()) {
    const auto model = model_of(k);
    const auto decoding = model->decoding(a_source());
    if (!k.looks()) {
      (void)decoding->next(a_target().narrow(1, 0, 1));
      EXPECT_FALSE(decoding->coverage().defined()) << k.str();
      continue;
    }
    const Tensor a = model->alignment(a_source(), a_target()).select(1, 0);
    const auto seen = [&](int64_t steps) {
      return where(a_source() == kPad, ones({}), sum(a.narrow(1, 0, steps), 1));
    };
    (void)decoding->next(a_target().narrow(1, 0, 2));
    (void)decoding->next(a_target().narrow(1, 2, 1));
    EXPECT_LE(worst(decoding->coverage(), seen(3)), 1e-5) << k.str();
    const Tensor rows = tensor({1, 2, 0, 0});
    decoding->select(rows);
    EXPECT_LE(worst(decoding->coverage(), index_select(seen(3), 0, rows)), 1e-5) << k.str();
    (void)decoding->next(index_select(a_target().narrow(1, 3, 1), 0, rows));
    EXPECT_LE(worst(decoding->coverage(), index_select(seen(4), 0, rows)), 1e-5) << k.str();
  }
}

}  // namespace
}  // namespace fovea
