// Masks and caches on their way through encoders and decoders.
#include <gtest/gtest.h>

#include "fovea/core/error.h"
#include "fovea/nn/transformer/transformer.h"
#include "fovea/ops/ops.h"
#include "tests/nn/measures.h"

namespace fovea {
namespace {

using testing::worst;

// One cache for all layers would show each of them the keys of the others.
TEST(TransformerMasks, AStackRefusesTheCacheOfALayer) {
  const NoGrad scope;
  const TransformerEncoder stack({.layer = {.d_model = 8, .heads = 2}, .layers = 2});
  LayerCache cache;
  KvCache caches(2);
  const Tensor x = randn({1, 3, 8});
  EXPECT_THROW((void)stack(x, {.cache = &cache}), ValueError);
  EXPECT_THROW((void)stack(x, {.cache = &cache}, &caches), ValueError);
  EXPECT_EQ(cache.length() + caches.length(), 0);
}

// A mask of the source is (B, S) whatever T is, B among it.
TEST(TransformerMasks, ADecoderReadsTheMaskOfItsMemoryByKey) {
  manual_seed(2);
  const TransformerDecoder decoder(
      {.layer = {.d_model = 8, .heads = 2, .dropout = 0}, .layers = 1});
  const Tensor memory = randn({3, 5, 8}), x = randn({3, 4, 8});
  const Tensor keep = arange(5) < reshape(tensor({5, 2, 3}), {3, 1});
  const Tensor whole = decoder(x, memory, {.memory_keep_mask = keep});
  const Tensor part = decoder(x.narrow(1, 0, 3), memory, {.memory_keep_mask = keep});
  EXPECT_LE(worst(part, whole.narrow(1, 0, 3)), 1e-6);
}

// Padding in front of a target's prompt is masked in steps as in the whole.
TEST(TransformerMasks, StepsMaskThePaddingOfTheTarget) {
  manual_seed(3);
  Transformer m({.source_vocab = 9,
                 .target_vocab = 7,
                 .layer = {.d_model = 16, .heads = 4, .d_ff = 32},
                 .encoder_layers = 1,
                 .decoder_layers = 2,
                 .padding_idx = 0});
  m.eval();
  const Tensor source = tensor({{3, 4}, {5, 6}}), target = tensor({{0, 0, 3, 5}, {1, 2, 4, 0}});
  const Tensor whole = m(source, target);
  for (const int64_t n : {1, 2, 4}) {
    TransformerDecoding decoding(m, source);
    for (int64_t t = 0; t < 4; t += n) {
      EXPECT_LE(worst(decoding.next(target.narrow(1, t, n)), whole.select(1, t + n - 1)), 1e-5)
          << n;
    }
  }
  TransformerDecoding decoding(m, source);
  (void)decoding.next(target.narrow(1, 0, 3));
  decoding.select(tensor({1, 0, 0}));
  const Tensor last = index_select(target, 0, tensor({1, 0, 0})).narrow(1, 3, 1);
  EXPECT_LE(worst(decoding.next(last), index_select(whole.select(1, 3), 0, tensor({1, 0, 0}))),
            1e-5);
}

}  // namespace
}  // namespace fovea
