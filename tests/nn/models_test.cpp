// What models promise beyond their numbers: the rows of the case table hold those.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/allocator.h"
#include "fovea/core/error.h"
#include "fovea/nn/transformer/bert.h"
#include "fovea/nn/transformer/generate.h"
#include "fovea/nn/transformer/gpt.h"
#include "fovea/nn/transformer/llama.h"
#include "fovea/nn/transformer/vit.h"
#include "fovea/ops/ops.h"
#include "fovea/optim/adam.h"
#include "tests/nn/measures.h"

namespace fovea {
namespace {

using testing::deviation;

TEST(GPT, StartsAsGPT2) {
  manual_seed(1);
  const GPT m({.vocab = 65, .context = 64, .d_model = 192, .heads = 4, .layers = 4});
  EXPECT_EQ(m.numel(), 65 * 192 + 64 * 192 + 4 * (12 * 192 * 192 + 13 * 192) + 2 * 192);
  const double std = 0.04;  // 0.02 at four times the width
  EXPECT_NEAR(deviation(m.tokens.weight), std, 1e-3);
  EXPECT_NEAR(deviation(m.positions.table.weight), std, 1e-3);
  const TransformerEncoderLayer& block = m.blocks.layers[2];
  EXPECT_NEAR(deviation(block.attention.w_q.weight), std, 1e-3);
  EXPECT_NEAR(deviation(block.attention.w_o.weight), std / std::sqrt(8), 1e-3);
  EXPECT_NEAR(deviation(block.mlp.down.weight), std / std::sqrt(8), 1e-3);
  EXPECT_EQ(deviation(block.mlp.up.bias), 0);
  const GPT other({.vocab = 65, .context = 9, .d_model = 192, .init_std = 0.3});
  EXPECT_NEAR(deviation(other.tokens.weight), 0.3, 0.01);
  // It knows nothing yet: all tokens are about as likely.
  const Tensor ids = randint(0, 65, {2, 30}), next = randint(0, 65, {2, 30});
  EXPECT_NEAR(cross_entropy(m(ids), next).item(), std::log(65.0), 0.3);
}

TEST(LanguageModels, HaveALayer) {
  EXPECT_THROW(GPT({.vocab = 5, .context = 4, .d_model = 4, .layers = 0}), ValueError);
  EXPECT_THROW(Llama({.vocab = 5, .context = 4, .d_model = 4, .layers = 0}), ValueError);
}

// What comes later has no part in the answer, nor in any gradient of it.
TEST(GPT, DoesNotSeeTheFuture) {
  manual_seed(2);
  const GPT m({.vocab = 7, .context = 8, .d_model = 8, .heads = 2, .layers = 2});
  const Tensor a = tensor({{1, 2, 3, 4, 5}}), b = tensor({{1, 2, 3, 6, 0}});
  const Tensor ya = m(a), yb = m(b);
  EXPECT_TRUE(equal(ya.narrow(1, 0, 3), yb.narrow(1, 0, 3)));
  EXPECT_FALSE(equal(ya.select(1, 3), yb.select(1, 3)));
  sum(ya.narrow(1, 0, 3)).backward();
  const Tensor g = m.positions.table.weight.grad();
  EXPECT_EQ(max(abs(g.narrow(0, 3, 5))).item(), 0);
  EXPECT_GT(max(abs(g.narrow(0, 0, 3))).item(), 0);
}

template <class M>
double loss_after_learning(M& m, int steps) {
  Adam optimizer(m.parameters(), {.lr = 0.01});
  const Tensor ids = tensor({{1, 2, 3, 4, 5, 1, 2, 3, 4, 5}});
  double last = 0;
  for (int i = 0; i < steps; ++i) {
    m.zero_grad();
    const Tensor loss = cross_entropy(m(ids.narrow(1, 0, 9)), ids.narrow(1, 1, 9));
    loss.backward();
    optimizer.step();
    last = loss.item();
  }
  return last;
}

// The head is asked about the last token of a prompt: logits of all would be 20 MB.
TEST(LanguageModels, APromptCostsTheLogitsOfOneToken) {
  const GPT m({.vocab = 20000, .context = 256, .d_model = 8});
  const Tensor ids = randint(0, 20000, {1, 256});
  LanguageDecoding decoding(m);
  reset_peak_memory();
  const int64_t before = memory_stats().live_bytes;
  const Tensor last = decoding.next(ids);
  EXPECT_LT(memory_stats().peak_bytes - before, 4'000'000);
  EXPECT_LE(max(abs(last - m(ids).select(1, -1))).item(), 1e-5);
}

TEST(LanguageModels, LearnALine) {
  manual_seed(3);
  GPT gpt({.vocab = 6, .context = 16, .d_model = 16, .heads = 2, .layers = 2});
  EXPECT_LT(loss_after_learning(gpt, 100), 0.05);
  Llama llama({.vocab = 6, .context = 16, .d_model = 16, .heads = 4, .kv_heads = 2, .layers = 2});
  EXPECT_LT(loss_after_learning(llama, 100), 0.05);
}

// One layer of window W: rotary positions are relative, so a token gets what it gets at the end of
// the last W tokens alone.
TEST(Llama, ASlidingWindowSeesTheLastTokens) {
  manual_seed(3);
  LlamaOptions o{.vocab = 7, .context = 16, .d_model = 8, .heads = 2, .kv_heads = 1, .dtype = f64};
  o.window = 3;
  const Llama m(o);
  const Tensor ids = randint(0, 7, {1, 8});
  const Tensor logits = m(ids);
  for (int64_t t = 0; t < 8; ++t) {
    const int64_t first = std::max<int64_t>(0, t - 2);
    const Tensor alone = m(ids.narrow(1, first, t + 1 - first));
    EXPECT_TRUE(allclose(select(logits, 1, t), select(alone, 1, t - first), 1e-12, 1e-12)) << t;
  }
  // Token by token, with a cache.
  const NoGrad scope;
  KvCache cache = m.cache();
  for (int64_t t = 0; t < 8; ++t) {
    const Tensor step = m(ids.narrow(1, t, 1), &cache);
    EXPECT_TRUE(allclose(select(logits, 1, t), select(step, 1, 0), 1e-12, 1e-12)) << t;
  }
}

// Two layers see twice as far and no further; a window of the context is none at all.
TEST(Llama, TheReachOfAWindowGrowsWithTheLayers) {
  LlamaOptions o{.vocab = 7, .context = 9, .d_model = 8, .heads = 2, .layers = 2};
  o.window = 3;
  Llama m(o);
  const Llama all({.vocab = 7, .context = 9, .d_model = 8, .heads = 2, .layers = 2});
  o.window = 9;
  Llama wide(o);
  wide.load_state(all.state());
  const Tensor ids = arange(0, 7).reshape({1, 7});
  EXPECT_TRUE(equal(wide(ids), all(ids)));
  m.load_state(all.state());  // the window is no part of the state
  const auto changes = [&](int64_t at) {
    Tensor other = clone(ids);
    other.narrow(1, at, 1).fill_(6 - at);
    return !equal(select(m(ids), 1, 6), select(m(other), 1, 6));
  };
  EXPECT_FALSE(changes(0));
  EXPECT_FALSE(changes(1));
  EXPECT_TRUE(changes(2));
  EXPECT_TRUE(changes(4));
  o.window = -1;
  EXPECT_THROW(Llama{o}, ValueError);
}

TEST(ViT, TakesTheEpsOfItsFile) {
  ViTOptions o{.image = 4, .patch = 2, .classes = 3, .d_model = 4, .layers = 1};
  EXPECT_EQ(ViT(o).encoder.norm->eps, 1e-6);
  o.eps = 1e-12;
  const ViT m(o);
  EXPECT_EQ(m.encoder.norm->eps, 1e-12);
  EXPECT_EQ(m.encoder.layers[0].norm1.eps, 1e-12);
  EXPECT_EQ(m.encoder.layers[0].norm2.eps, 1e-12);
}

TEST(Llama, GroupedHeadsShrinkTheCache) {
  manual_seed(4);
  const Llama m({.vocab = 5, .context = 8, .d_model = 16, .heads = 4, .kv_heads = 1, .layers = 1});
  EXPECT_EQ(m.blocks[0].attention.w_k.weight.shape(), Shape({4, 16}));
  EXPECT_FALSE(m.blocks[0].attention.w_q.bias.defined());
  EXPECT_EQ(m.blocks[0].mlp.gate.out(), 43);  // 8/3 of 16, rounded up
  const NoGrad scope;
  KvCache cache = m.cache();
  EXPECT_EQ(m(zeros({3, 2}, i64), &cache).shape(), Shape({3, 2, 5}));
  const auto kept = cache.layers[0].append(zeros({3, 1, 0, 4}), zeros({3, 1, 0, 4}));
  EXPECT_EQ(kept.k.shape(), Shape({3, 1, 2, 4}));
}

TEST(Bert, PaddingChangesNothing) {
  manual_seed(5);
  Bert m({.vocab = 9, .context = 6, .d_model = 8, .heads = 2, .layers = 2});
  m.eval();
  const Tensor alone = m(tensor({{1, 2, 3}}));
  const Tensor padded = m(tensor({{1, 2, 3, 7, 7}, {4, 5, 6, 7, 8}}),
                          {.keep_mask = tensor({{1, 1, 1, 0, 0}, {1, 1, 1, 1, 1}}, boolean)});
  EXPECT_LE(max(abs(alone - padded.narrow(0, 0, 1).narrow(1, 0, 3))).item(), 1e-6);
  EXPECT_THROW((void)m(tensor({{1, 2}}), {.keep_mask = ones({1, 3}, boolean)}), ShapeError);
}

TEST(Bert, HidesAsDevlin) {
  Generator g(6);
  const int64_t n = 200000;
  const Tensor ids = randint(1, 100, {1, n}, &g);
  Tensor may = ones({1, n}, boolean);
  may.narrow(1, 0, 1000).fill_(false);
  const Hidden h =
      hide_tokens(ids, {.vocab = 100, .mask_id = 0, .probability = 0.15, .may_hide = may}, &g);
  const Tensor asked = ne(h.targets, -100);
  const auto share = [&](const Tensor& where) { return mean(to(where, f32)).item(); };
  EXPECT_EQ(share(asked.narrow(1, 0, 1000)), 0);
  EXPECT_NEAR(share(asked.narrow(1, 1000, n - 1000)), 0.15, 0.005);
  const Tensor masked = logical_and(asked, eq(h.ids, 0));
  const Tensor kept = logical_and(asked, eq(h.ids, ids));
  EXPECT_NEAR(share(masked) / share(asked), 0.8 + 0.1 / 100, 0.01);
  EXPECT_NEAR(share(kept) / share(asked), 0.1 + 0.1 / 100, 0.01);
  EXPECT_TRUE(equal(where(asked, h.targets, ids), ids));
  EXPECT_TRUE(equal(where(asked, ids, h.ids), ids)) << "a token that is not asked for was changed";
  EXPECT_THROW(hide_tokens(ids, {.vocab = 100, .mask_id = 100}), ValueError);
}

// A patch times a matrix is a convolution whose stride is its size.
TEST(PatchEmbedding, IsAConvolution) {
  manual_seed(7);
  const PatchEmbedding p({.channels = 3, .patch = 4, .d_model = 5});
  const Tensor images = randn({2, 3, 8, 12});
  const Tensor c = conv2d(images, reshape(p.projection.weight, {5, 3, 4, 4}), p.projection.bias,
                          {.stride = {4, 4}});
  EXPECT_LE(max(abs(p(images) - transpose(reshape(c, {2, 5, 6}), 1, 2))).item(), 1e-5);
}

}  // namespace
}  // namespace fovea
