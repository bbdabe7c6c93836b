// BERT: an encoder trained to restore hidden tokens. Devlin 2018.
//
// A tenth or so of the tokens is hidden, and the model is asked for them with all others in sight,
// left and right: no causal mask, and so no writing, but a vector for each token that knows the
// whole sentence. Only the hidden places have a loss; the gradient reaches all tokens through
// attention.
#pragma once

#include "fovea/core/random.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/position/learned.h"
#include "fovea/nn/transformer/encoder.h"

namespace fovea {

struct BertOptions {
  int64_t vocab = 0;
  int64_t context = 0;   ///< longest sequence
  int64_t segments = 2;  ///< kinds of sentences; 0: none
  int64_t d_model = 0;
  int64_t heads = 1;
  int64_t layers = 1;
  int64_t d_ff = 0;  ///< 0: 4 d_model
  double dropout = 0.1;
  double eps = 1e-12;
  DType dtype = f32;
};

struct BertInputs {
  Tensor keep_mask = {};  ///< bool (B, T), true = a token, false = padding
  Tensor segments = {};   ///< i64 (B, T); all 0 when not given
};

/// Post-norm layers with gelu. Parameters "tokens", "positions", "segments", "norm", "encoder", and
/// of the head "transform" (Linear), "transform_norm" and "output_bias" (V). Weights start as
/// N(0, 0.02), biases 0.
class Bert : public Module {
 public:
  Embedding tokens;
  LearnedPositions positions;
  std::optional<Embedding> segments;
  LayerNorm norm;
  Dropout dropout;
  TransformerEncoder encoder;
  Linear transform;
  LayerNorm transform_norm;
  Tensor output_bias;

  explicit Bert(const BertOptions& o);

  /// ids i64 (B, T) -> (B, T, d_model).
  Tensor encode(const Tensor& ids, const BertInputs& in = {}) const;
  /// Logits of every token, (B, T, V): norm(gelu(transform(h))) W_token' + bias.
  Tensor forward(const Tensor& ids, const BertInputs& in = {}) const;
  Tensor operator()(const Tensor& ids, const BertInputs& in = {}) const { return forward(ids, in); }
  void visit(Visitor& v) override;
};

struct HideOptions {
  int64_t vocab = 0;
  int64_t mask_id = 0;  ///< stands for what is hidden
  double probability = 0.15;
  int64_t ignore_index = -100;
  Tensor may_hide = {};  ///< bool (B, T): where tokens may be hidden; not at padding or [CLS]
};
struct Hidden {
  Tensor ids;      ///< what the model reads
  Tensor targets;  ///< what it is asked for; ignore_index at the other places
};
/// Chooses tokens with `probability`; of these 8 in 10 become mask_id, 1 in 10 any token, and 1 in
/// 10 stays, so that no place is known to be right. Devlin 2018, section 3.1. ids i64 (B, T).
Hidden hide_tokens(const Tensor& ids, const HideOptions& o, Generator* g = nullptr);

}  // namespace fovea
