// The Transformer's encoder. Vaswani 2017, section 3.1.
//
//     post-norm   h = norm1(x + attention(x)),         y = norm2(h + mlp(h))
//     pre-norm    h = x + attention(norm1(x)),         y = h + mlp(norm2(h))
//
// How the gradient flows: through "x +" it passes unchanged, beside what attention and mlp send
// back. With pre-norm such a path leads from the loss to the embeddings past no other layer, which
// is why deep stacks train without warm-up (Xiong 2020); post-norm sends it through every norm on
// the way, which rescales it each time. With a causal mask this layer is the block of GPT.
#pragma once

#include <optional>
#include <vector>

#include "fovea/nn/attention/multi_head.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/transformer/feed_forward.h"

namespace fovea {

struct TransformerLayerOptions {
  int64_t d_model = 0;
  int64_t heads = 1;
  int64_t d_ff = 0;      ///< 0: 4 d_model
  double dropout = 0.1;  ///< of attention weights, inside the MLP, and of what is added to x
  std::optional<double> attention_dropout = {};  ///< that of attention weights, where it differs
  Activation activation = Activation::relu;
  bool pre_norm = false;
  double eps = 1e-5;  ///< of the norms
  bool bias = true;   ///< of all projections and norms
  /// Self-attention turns queries and keys by their positions; cross-attention, whose two sides
  /// count apart, does not.
  std::optional<RotaryPositionsOptions> rotary = {};
  DType dtype = f32;
};

/// x (B, T, d_model) -> the same shape. Parameters "attention", "mlp", "norm1" and "norm2". With
/// the same weights, and without rotary positions, it equals torch.nn.TransformerEncoderLayer
/// (batch_first): see nn/interchange/torch_names.h.
class TransformerEncoderLayer : public Module {
 public:
  MultiHeadAttention attention;
  MLP mlp;
  LayerNorm norm1, norm2;
  Dropout dropout;
  bool pre_norm;

  explicit TransformerEncoderLayer(const TransformerLayerOptions& o);

  Tensor forward(const Tensor& x, const AttendOptions& o = {}) const;
  Tensor operator()(const Tensor& x, const AttendOptions& o = {}) const { return forward(x, o); }
  void visit(Visitor& v) override;
};

struct TransformerStackOptions {
  TransformerLayerOptions layer = {};
  int64_t layers = 1;
  bool final_norm = true;  ///< with pre-norm: what leaves the last layer is normalised too
};

/// Several layers, one after the other: "layers.0" ..., and "norm" with pre-norm. ValueError for a
/// negative number of layers.
class TransformerEncoder : public Module {
 public:
  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;

  explicit TransformerEncoder(const TransformerStackOptions& o);

  /// ValueError when o.cache is set: each layer needs its own, and `cache` has them.
  Tensor forward(const Tensor& x, const AttendOptions& o = {}, KvCache* cache = nullptr) const;
  Tensor operator()(const Tensor& x, const AttendOptions& o = {}, KvCache* cache = nullptr) const {
    return forward(x, o, cache);
  }
  void visit(Visitor& v) override;
};

}  // namespace fovea
