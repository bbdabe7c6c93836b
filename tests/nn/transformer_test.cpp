// What layers and stacks of Transformers promise beside their numbers.
#include "fovea/nn/transformer/transformer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/nn/transformer/bert.h"
#include "fovea/nn/transformer/gpt.h"
#include "fovea/nn/transformer/llama.h"
#include "fovea/nn/transformer/vit.h"
#include "fovea/ops/ops.h"
#include "tests/nn/measures.h"

namespace fovea {
namespace {

using testing::deviation;
using testing::worst;

double largest(const Tensor& x) { return max(abs(x)).item(); }

TEST(MultiHeadAttention, StartsAsPyTorchs) {
  manual_seed(1);
  const auto bound = [](double in_and_out) { return std::sqrt(6 / in_and_out); };
  const MultiHeadAttention same({.d_model = 64, .heads = 4});
  EXPECT_NEAR(largest(same.w_q.weight), bound(4 * 64), 1e-3);  // of (3 E, E)
  EXPECT_NEAR(largest(same.w_v.weight), bound(4 * 64), 1e-3);
  const MultiHeadAttention wide({.d_model = 64, .heads = 4, .kdim = 32});
  EXPECT_NEAR(largest(wide.w_q.weight), bound(2 * 64), 1e-3);
  EXPECT_NEAR(largest(wide.w_k.weight), bound(64 + 32), 2e-3);
  EXPECT_EQ(largest(same.w_k.bias), 0);
  EXPECT_EQ(largest(same.w_o.bias), 0);
}

TEST(MultiHeadAttention, AMaskWithACacheIsOfAllKeys) {
  manual_seed(2);
  const MultiHeadAttention m({.d_model = 8, .heads = 2});
  const Tensor x = randn({2, 5, 8});
  const Tensor keep = tensor({{0, 1, 1, 1, 1}, {1, 1, 0, 1, 1}}, boolean).reshape({2, 1, 1, 5});
  const Tensor whole = m(x, {.keep_mask = keep, .causal = Causal::lower_right});
  const NoGrad scope;
  LayerCache cache;
  Tensors parts;
  for (const auto& [first, n] : {std::pair{0, 2}, {2, 3}}) {
    parts.push_back(m(x.narrow(1, first, n), {.keep_mask = keep.narrow(3, 0, first + n),
                                              .causal = Causal::lower_right,
                                              .cache = &cache}));
  }
  EXPECT_LE(largest(cat(parts, 1) - whole), 1e-6);
}

TEST(TransformerEncoder, DropsWhileTrainingOnly) {
  manual_seed(3);
  TransformerEncoder m({.layer = {.d_model = 8, .heads = 2, .dropout = 0.5}, .layers = 2});
  const Tensor x = randn({2, 4, 8});
  EXPECT_FALSE(equal(m(x), m(x)));
  m.eval();
  EXPECT_TRUE(equal(m(x), m(x)));
  // Of the weights of attention too.
  MultiHeadAttention a({.d_model = 8, .heads = 2, .dropout = 0.5});
  EXPECT_FALSE(equal(a(x), a(x)));
  a.eval();
  EXPECT_TRUE(equal(a(x), a(x)));
}

TEST(TransformerEncoder, EndsWithANormWhenItsLayersDoNot) {
  const auto made = [](bool pre_norm, bool final_norm) {
    return TransformerEncoder({.layer = {.d_model = 4, .heads = 2, .pre_norm = pre_norm},
                               .layers = 1,
                               .final_norm = final_norm})
        .norm.has_value();
  };
  EXPECT_TRUE(made(true, true));
  EXPECT_FALSE(made(true, false));
  EXPECT_FALSE(made(false, true));
}

struct Steps {
  bool pre_norm = false;
  std::optional<RotaryPositionsOptions> rotary = {};
};
class TransformerSteps : public ::testing::TestWithParam<Steps> {};

TEST_P(TransformerSteps, EqualTheWholeWithPadding) {
  manual_seed(10);
  Transformer m({.source_vocab = 9,
                 .target_vocab = 7,
                 .layer = {.d_model = 16,
                           .heads = 4,
                           .d_ff = 32,
                           .pre_norm = GetParam().pre_norm,
                           .rotary = GetParam().rotary},
                 .encoder_layers = 2,
                 .decoder_layers = 2,
                 .padding_idx = 0});
  m.eval();
  const Tensor source = tensor({{3, 4, 5, 0, 0}, {8, 1, 2, 6, 7}});
  const Tensor target = tensor({{1, 2, 3, 4}, {6, 5, 1, 1}});
  const Tensor whole = m(source, target);
  TransformerDecoding decoding(m, source);
  for (int64_t t = 0; t < 4; ++t) {
    EXPECT_LE(worst(decoding.next(target.narrow(1, t, 1)), whole.select(1, t)), 1e-5);
  }
  // Padding of the source changes nothing.
  const Tensor alone = m(tensor({{3, 4, 5}}), target.narrow(0, 0, 1));
  EXPECT_LE(worst(alone, whole.narrow(0, 0, 1)), 1e-5);
  const auto found = [&] {
    TransformerDecoding both(m, source);
    return beam_search(both, tensor({{1}, {1}}), {.beams = 3, .max_tokens = 5, .stop = 2});
  }();
  TransformerDecoding first(m, tensor({{3, 4, 5}}));
  const auto one = beam_search(first, tensor({{1}}), {.beams = 3, .max_tokens = 5, .stop = 2});
  ASSERT_EQ(found[0].size(), one[0].size());
  for (size_t i = 0; i < one[0].size(); ++i) EXPECT_EQ(found[0][i].ids, one[0][i].ids);
}
INSTANTIATE_TEST_SUITE_P(Transformer, TransformerSteps,
                         ::testing::Values(Steps{}, Steps{true}, Steps{true, {{.dim = 0}}}));

// The options of a layer's attentions, and what they leave to the rest of it.
TEST(TransformerLayers, AttentionHasItsOwnOptions) {
  const TransformerLayerOptions usual{.d_model = 8, .heads = 2, .dropout = 0.25};
  TransformerLayerOptions own = usual;
  own.attention_dropout = 0;
  own.rotary = RotaryPositionsOptions{};
  const TransformerDecoderLayer a(usual), b(own);
  for (const auto* attention : {&a.self_attention, &a.cross_attention}) {
    EXPECT_EQ(attention->options().dropout, 0.25);
    EXPECT_FALSE(attention->options().rotary);
  }
  EXPECT_EQ(b.self_attention.options().dropout, 0);
  EXPECT_EQ(b.cross_attention.options().dropout, 0);
  EXPECT_EQ(b.mlp.dropout.p, 0.25);
  EXPECT_TRUE(b.self_attention.options().rotary);
  EXPECT_FALSE(b.cross_attention.options().rotary);
  EXPECT_TRUE(TransformerEncoderLayer(own).attention.options().rotary);
}

TEST(Transformer, StartsWithTablesOfUnitVectors) {
  manual_seed(5);
  const Transformer m({.source_vocab = 200,
                       .target_vocab = 100,
                       .layer = {.d_model = 64, .heads = 4},
                       .encoder_layers = 1,
                       .decoder_layers = 1,
                       .padding_idx = 3});
  EXPECT_NEAR(deviation(m.source.weight), 1 / 8.0, 0.005);
  EXPECT_NEAR(deviation(m.target.weight), 1 / 8.0, 0.005);
  EXPECT_EQ(largest(m.source.weight.select(0, 3)), 0);
  EXPECT_NEAR(largest(m.decoder.layers[0].cross_attention.w_k.weight), std::sqrt(6 / 128.0), 1e-3);
  EXPECT_NEAR(largest(m.encoder.layers[0].mlp.up.weight), std::sqrt(6 / 320.0), 1e-3);
}

TEST(Models, StartWithDeviation002) {
  manual_seed(6);
  const Llama llama({.vocab = 50, .context = 8, .d_model = 64, .heads = 4, .layers = 1});
  EXPECT_NEAR(deviation(llama.tokens.weight), 0.02, 2e-3);
  EXPECT_NEAR(deviation(llama.head), 0.02, 2e-3);
  EXPECT_NEAR(deviation(llama.blocks[0].mlp.down.weight), 0.02, 2e-3);
  const Bert bert({.vocab = 50, .context = 8, .d_model = 64, .heads = 4, .layers = 1});
  EXPECT_NEAR(deviation(bert.tokens.weight), 0.02, 2e-3);
  EXPECT_NEAR(deviation(bert.encoder.layers[0].attention.w_o.weight), 0.02, 2e-3);
  EXPECT_EQ(largest(bert.transform.bias), 0);
  const ViT vit({.image = 16, .channels = 1, .patch = 2, .classes = 3, .d_model = 64, .heads = 4});
  EXPECT_NEAR(deviation(vit.positions.table.weight), 0.02, 2e-3);
}

TEST(Llama, ATiedHeadIsTheTable) {
  const LlamaOptions o{.vocab = 5, .context = 4, .d_model = 8, .heads = 2, .layers = 1};
  LlamaOptions tied = o;
  tied.tied = true;
  EXPECT_EQ(Llama(o).numel() - Llama(tied).numel(), 5 * 8);
}

TEST(Bert, WithoutSegmentsAllAreTheFirst) {
  manual_seed(7);
  Bert m({.vocab = 9, .context = 6, .d_model = 8, .heads = 2, .layers = 1});
  m.eval();
  const Tensor ids = tensor({{1, 2, 3}});
  EXPECT_TRUE(equal(m(ids), m(ids, {.segments = zeros({1, 3}, i64)})));
  EXPECT_FALSE(equal(m(ids), m(ids, {.segments = ones({1, 3}, i64)})));
}

template <class M>
void expect_context_to_count_what_was_read(const M& m) {
  const NoGrad scope;
  KvCache cache = m.cache();
  EXPECT_EQ(m(zeros({1, 5}, i64), &cache).size(1), 5);
  EXPECT_THROW((void)m(zeros({1, 4}, i64), &cache), ValueError);
  EXPECT_EQ(m(zeros({1, 3}, i64), &cache).size(1), 3);
  EXPECT_EQ(cache.length(), 8);
}
TEST(LanguageModels, TheContextCountsWhatWasRead) {
  expect_context_to_count_what_was_read(
      GPT({.vocab = 3, .context = 8, .d_model = 8, .heads = 2, .layers = 2}));
  expect_context_to_count_what_was_read(
      Llama({.vocab = 3, .context = 8, .d_model = 8, .heads = 2, .layers = 2}));
}

}  // namespace
}  // namespace fovea
