// Where encoders and decoders drop: with p = 1 what was dropped is 0, and nothing depends on it.
#include <gtest/gtest.h>

#include "fovea/ops/ops.h"
#include "tests/nn/measures.h"
#include "tests/nn/seq2seq/models.h"

namespace fovea {
namespace {

using namespace testing;

constexpr int64_t kWidth = 8;

double largest(const Tensor& x) { return max(abs(x)).item(); }
EncoderOptions encoder_that_drops(const char* kind) {
  manual_seed(7);
  return {
      .kind = kind, .vocab = kSymbols, .embedding = 6, .width = kWidth, .heads = 2, .dropout = 1};
}
const Tensor& ids() {
  static const Tensor t = tensor({{3, 4, 5, 6}, {6, 2, 3, 3}});
  return t;
}
const Tensor& other_ids() {
  static const Tensor t = tensor({{2, 4, 6, 6}, {5, 3, 2, 4}});
  return t;
}

// The embeddings, so that the states know no token, and the memory, which they are shown as.
TEST(RecurrentEncoder, DropsTokensAndMemory) {
  for (const char* kind : {"rnn", "lstm", "gru"}) {
    RecurrentEncoder encoder(encoder_that_drops(kind));
    const Encoded a = encoder(ids()), b = encoder(other_ids());
    EXPECT_EQ(largest(a.memory), 0) << kind;
    EXPECT_TRUE(equal(a.summary, b.summary)) << kind;
    EXPECT_GT(largest(a.summary), 1e-3) << kind;
    encoder.eval();
    EXPECT_GT(largest(encoder(ids()).memory), 1e-3) << kind;
    EXPECT_GT(worst(encoder(ids()).summary, encoder(other_ids()).summary), 1e-3) << kind;
  }
}

// Inside its layers; what the last norm gives is the memory as it is.
TEST(TransformerSourceEncoder, DropsTokensAndLeavesTheMemory) {
  TransformerSourceEncoder encoder(encoder_that_drops("transformer"));
  {
    const NoGrad scope;
    encoder.layers.norm->bias.fill_(0.5);
  }
  EXPECT_TRUE(equal(encoder(ids()).memory, full({2, 4, kWidth}, 0.5)));
  EXPECT_TRUE(equal(encoder(ids()).summary, full({2, kWidth}, 0.5)));
  encoder.eval();
  EXPECT_GT(worst(encoder(ids()).memory, encoder(other_ids()).memory), 1e-3);
}

// The embeddings, so that the state knows the source and no token, and the features, so that logits
// are the bias alone.
TEST(AttentionDecoder, DropsTokensAndFeatures) {
  for (const Kind& k : few_kinds()) {
    if (k.decoder == "transformer") continue;
    manual_seed(7);
    AttentionDecoder decoder({.vocab = kSymbols,
                              .embedding = 6,
                              .hidden = kWidth,
                              .memory = kWidth,
                              .cell = k.decoder,
                              .attention = k.attention,
                              .order = k.order,
                              .input_feeding = k.feeding,
                              .window = 3,
                              .dropout = 1});
    const auto read = [&](const Tensor& tokens, double scale, Tensor* state) {
      Generator g(3);
      const Tensor memory = randn({2, 4, kWidth}, f32, &g) * scale;
      const Encoded source{memory, mean(memory, 1), {}};
      AttentionDecoder::State s = decoder.start(source);
      const Tensor f = decoder(tokens, decoder.prepare(source), s).features;
      *state = s.cell.h.detach();
      return f.detach();
    };
    Tensor state, of_others, of_another_source;
    const Tensor features = read(ids(), 1, &state);
    EXPECT_EQ(largest(features), 0) << k.str();
    EXPECT_TRUE(equal(decoder.logits(features).detach(),
                      expand(decoder.output.bias.detach(), {2, 4, kSymbols})))
        << k.str();
    (void)read(other_ids(), 1, &of_others);
    EXPECT_TRUE(equal(state, of_others)) << k.str();
    (void)read(ids(), 2, &of_another_source);
    EXPECT_GT(worst(state, of_another_source), 1e-3) << k.str();
    decoder.eval();
    EXPECT_GT(largest(read(ids(), 1, &state)), 1e-3) << k.str();
    (void)read(other_ids(), 1, &of_others);
    EXPECT_GT(worst(state, of_others), 1e-3) << k.str();
  }
}

}  // namespace
}  // namespace fovea
