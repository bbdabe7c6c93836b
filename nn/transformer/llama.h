// LLaMA: the block that open language models share. Touvron 2023, section 2.2.
//
//     h = x + attention(norm1(x)),   y = h + swiglu(norm2(h))
//
// Against GPT's: RMSNorm for LayerNorm, rotary positions inside attention for learned ones at the
// bottom, SwiGLU for the MLP, no biases, and fewer key heads than query heads (grouped-query
// attention, Ainslie 2023), which makes the cache smaller by heads / kv_heads.
#pragma once

#include "fovea/nn/attention/multi_head.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/rms_norm.h"
#include "fovea/nn/transformer/feed_forward.h"
#include "fovea/nn/transformer/language_model.h"

namespace fovea {

struct LlamaOptions {
  int64_t vocab = 0;
  int64_t context = 0;  ///< longest sequence
  int64_t d_model = 0;
  int64_t heads = 1;
  int64_t kv_heads = 0;  ///< 0: heads
  int64_t layers = 1;
  int64_t d_ff = 0;  ///< 0: 8/3 d_model
  double eps = 1e-5;
  RotaryPositionsOptions rotary = {.pairing = RopePairing::half};
  /// A token attends to the last `window` tokens, itself included; 0: to all before it. What
  /// Mistral's files call sliding_window (Jiang 2023). L layers see L (window - 1) tokens back.
  int64_t window = 0;
  bool tied = false;  ///< the head is the token table
  DType dtype = f32;
};

/// x (B, T, d_model) -> the same shape, causal. Parameters "norm1", "attention", "norm2", "mlp".
class LlamaBlock : public Module {
 public:
  RMSNorm norm1;
  MultiHeadAttention attention;
  RMSNorm norm2;
  SwiGLU mlp;

  /// ValueError for a negative window.
  explicit LlamaBlock(const LlamaOptions& o);

  Tensor forward(const Tensor& x, LayerCache* cache = nullptr) const;
  Tensor operator()(const Tensor& x, LayerCache* cache = nullptr) const {
    return forward(x, cache);
  }
  void visit(Visitor& v) override;

 private:
  std::optional<int64_t> before_;  // how many tokens before its own a token attends to
};

/// Parameters "tokens", "blocks.0" ..., "norm", and "head" (V, d_model) unless tied. Weights start
/// as N(0, 0.02).
class Llama : public LanguageModel {
 public:
  Embedding tokens;
  std::vector<LlamaBlock> blocks;
  RMSNorm norm;
  Tensor head;

  explicit Llama(const LlamaOptions& o);

  Tensor hidden(const Tensor& ids, KvCache* cache = nullptr) const override;
  Tensor logits(const Tensor& h) const override;
  int64_t context() const override { return o_.context; }
  KvCache cache() const override { return KvCache(o_.layers); }
  const LlamaOptions& options() const { return o_; }
  void visit(Visitor& v) override;

 private:
  LlamaOptions o_;
};

}  // namespace fovea
