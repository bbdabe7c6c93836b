// What encoder and decoder share. Not public.
#pragma once

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/transformer/encoder.h"

namespace fovea::detail {

inline MultiHeadAttention attention_of(const TransformerLayerOptions& o,
                                       const std::optional<RotaryPositionsOptions>& rotary) {
  return MultiHeadAttention({.d_model = o.d_model,
                             .heads = o.heads,
                             .dropout = o.attention_dropout.value_or(o.dropout),
                             .bias = o.bias,
                             .rotary = rotary,
                             .dtype = o.dtype});
}
inline MultiHeadAttention self_attention_of(const TransformerLayerOptions& o) {
  return attention_of(o, o.rotary);
}
inline MultiHeadAttention cross_attention_of(const TransformerLayerOptions& o) {
  return attention_of(o, {});
}
inline MLP mlp_of(const TransformerLayerOptions& o) {
  return MLP({.d_model = o.d_model,
              .d_ff = o.d_ff,
              .activation = o.activation,
              .dropout = o.dropout,
              .bias = o.bias,
              .dtype = o.dtype});
}
inline LayerNorm norm_of(const TransformerLayerOptions& o) {
  return LayerNorm({.dim = o.d_model, .eps = o.eps, .bias = o.bias, .dtype = o.dtype});
}

/// x + f(norm(x)), or norm(x + f(x)).
template <class F>
Tensor residual(bool pre_norm, const LayerNorm& norm, const Tensor& x, F f) {
  return pre_norm ? x + f(norm(x)) : norm(x + f(x));
}

inline void check_layers(const char* op, int64_t layers, int64_t least = 0) {
  if (layers >= least) return;
  throw ValueError(
      fmt::format("{}: layers is {}; it counts layers, at least {}", op, layers, least));
}

/// `Layer`s made one by one: copies of one would share its weights.
template <class Layer>
void fill_stack(const char* op, const TransformerStackOptions& o, std::vector<Layer>& layers,
                std::optional<LayerNorm>& norm) {
  check_layers(op, o.layers);
  for (int64_t i = 0; i < o.layers; ++i) layers.emplace_back(o.layer);
  if (o.layer.pre_norm && o.final_norm) norm = norm_of(o.layer);
}

/// ValueError unless the cache, if any, has one entry a layer.
inline void check_cache(const char* op, const KvCache* cache, size_t layers) {
  if (!cache || cache->layers.size() == layers) return;
  throw ValueError(fmt::format("{}: the cache has {} layers, the model {}; take the model's own",
                               op, cache->layers.size(), layers));
}

}  // namespace fovea::detail
