// The Transformer's decoder. Vaswani 2017, section 3.1.
//
//     h1 = x  + self_attention(x)         causal: a token sees those before it and itself
//     h2 = h1 + cross_attention(h1, m)    queries from the decoder, keys and values from the memory
//     y  = h2 + mlp(h2)
//
// each with a norm, before or behind, as encoder.h has it.
//
// The memory m is what the encoder made of the source. It gets its gradient through cross-attention
// alone, summed over all layers and all queries that looked at it.
#pragma once

#include "fovea/nn/transformer/encoder.h"

namespace fovea {

struct DecodeOptions {
  Tensor keep_mask = {};         ///< of the target: bool, true = attend, as AttendOptions
  Tensor memory_keep_mask = {};  ///< of the source, (B, S), also where B = T
  /// When not null, forward() puts there what a layer looked at in the memory, (B, H, T, S); of
  /// several layers the last one. Undefined when there is none.
  Tensor* weights = nullptr;
};

/// What a decoder keeps from step to step: keys and values of the target so far, and those of the
/// memory, which are projected once. One entry a layer.
struct DecoderCache {
  KvCache target;
  std::vector<KeysAndValues> memory;
  /// See LayerCache::select.
  void select(const Tensor& rows);
};

/// x (B, T, d_model), memory (B, S, d_model) -> (B, T, d_model). Parameters "self_attention",
/// "cross_attention", "mlp", "norm1", "norm2" and "norm3". With the same weights, and
/// without rotary positions, it equals torch.nn.TransformerDecoderLayer (batch_first) under a
/// causal mask.
class TransformerDecoderLayer : public Module {
 public:
  MultiHeadAttention self_attention, cross_attention;
  MLP mlp;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout;
  bool pre_norm;

  explicit TransformerDecoderLayer(const TransformerLayerOptions& o);

  Tensor forward(const Tensor& x, const Tensor& memory, const DecodeOptions& o = {}) const;
  Tensor operator()(const Tensor& x, const Tensor& memory, const DecodeOptions& o = {}) const {
    return forward(x, memory, o);
  }
  /// The same for the tokens behind those in `cache`.
  Tensor step(const Tensor& x, LayerCache& cache, const KeysAndValues& memory,
              const DecodeOptions& o = {}) const;
  void visit(Visitor& v) override;

 private:
  template <class Look>
  Tensor run(const Tensor& x, const AttendOptions& self, Look look_at_memory) const;
};

/// Several layers, one after the other: "layers.0" ..., and "norm" with pre-norm.
class TransformerDecoder : public Module {
 public:
  std::vector<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;

  explicit TransformerDecoder(const TransformerStackOptions& o);

  Tensor forward(const Tensor& x, const Tensor& memory, const DecodeOptions& o = {}) const;
  Tensor operator()(const Tensor& x, const Tensor& memory, const DecodeOptions& o = {}) const {
    return forward(x, memory, o);
  }
  /// Projects the memory; then each step takes the next tokens. Under NoGrad.
  DecoderCache prepare(const Tensor& memory) const;
  Tensor step(const Tensor& x, DecoderCache& cache, const DecodeOptions& o = {}) const;
  void visit(Visitor& v) override;
};

}  // namespace fovea
