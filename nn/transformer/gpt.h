// GPT: a stack of causal pre-norm layers over learned positions. Radford 2019 ("GPT-2").
//
//     h = W_token[ids] + W_position[0 ... T - 1];  h = layers(h);  logits = norm(h) W_token'
//
// Every position is asked for its next token at once: the causal mask keeps the answer out of what
// it may see, so that one pass over T tokens is T training examples. The token table is used at
// both ends (Press & Wolf 2017); its gradient is the sum of both.
#pragma once

#include "fovea/nn/embedding.h"
#include "fovea/nn/position/learned.h"
#include "fovea/nn/transformer/encoder.h"
#include "fovea/nn/transformer/language_model.h"

namespace fovea {

struct GPTOptions {
  int64_t vocab = 0;
  int64_t context = 0;  ///< longest sequence
  int64_t d_model = 0;
  int64_t heads = 1;
  int64_t layers = 1;
  int64_t d_ff = 0;  ///< 0: 4 d_model
  double dropout = 0;
  Activation activation = Activation::gelu_tanh;  ///< GPT-2's; nanoGPT takes gelu
  bool bias = true;
  double eps = 1e-5;
  /// Of the weights at first. 0: 0.02 sqrt(768 / d_model), which is GPT-2's 0.02 at GPT-2's width:
  /// the narrower a layer, the larger the weights that keep the size of what passes through it.
  double init_std = 0;
  DType dtype = f32;
};

/// Parameters "tokens", "positions" and "blocks". Weights start as GPT-2's: N(0, init_std), biases
/// 0, and what is added to the stream N(0, init_std / sqrt(2 layers)), so that its variance does
/// not grow with depth. GPT-2's own files load through nn/interchange/gpt2.h.
class GPT : public LanguageModel {
 public:
  Embedding tokens;
  LearnedPositions positions;
  Dropout dropout;
  TransformerEncoder blocks;  ///< ends with the final norm

  explicit GPT(const GPTOptions& o);

  Tensor hidden(const Tensor& ids, KvCache* cache = nullptr) const override;
  Tensor logits(const Tensor& h) const override;
  int64_t context() const override { return o_.context; }
  KvCache cache() const override { return KvCache(o_.layers); }
  const GPTOptions& options() const { return o_; }
  void visit(Visitor& v) override;

 private:
  GPTOptions o_;
};

}  // namespace fovea
