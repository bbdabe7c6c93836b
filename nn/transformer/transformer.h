// The whole Transformer, from source tokens to logits of target tokens. Vaswani 2017, figure 1.
//
//     m = encoder(sqrt(D) W_source[source] + positions)
//     logits = decoder(sqrt(D) W_target[target] + positions, m) W_out'
//
// Training shows the decoder the right target, one place behind (teacher forcing): target =
// [start, y_1 ... y_n], asked for [y_1 ... y_n, end]. To write, see TransformerDecoding.
#pragma once

#include "fovea/nn/embedding.h"
#include "fovea/nn/position/sinusoidal.h"
#include "fovea/nn/seq2seq/encoder_decoder.h"
#include "fovea/nn/transformer/decoder.h"
#include "fovea/nn/transformer/generate.h"

namespace fovea {

struct TransformerOptions {
  int64_t source_vocab = 0, target_vocab = 0;
  TransformerLayerOptions layer = {};
  int64_t encoder_layers = 6, decoder_layers = 6;
  bool tied = true;          ///< logits by the table of the target's tokens
  int64_t padding_idx = -1;  ///< of both vocabularies: these tokens are masked; -1: none
};

/// source i64 (B, S), target i64 (B, T) -> logits (B, T, V). Parameters "source", "target",
/// "encoder", "decoder", and "output" (V, D) unless tied.
class Transformer : public EncoderDecoder {
 public:
  Embedding source, target;
  SinusoidalPositions positions;
  Dropout dropout;
  TransformerEncoder encoder;
  TransformerDecoder decoder;
  Tensor output;

  explicit Transformer(const TransformerOptions& o);

  Tensor forward(const Tensor& source_ids, const Tensor& target_ids) const;
  Tensor operator()(const Tensor& source_ids, const Tensor& target_ids) const {
    return forward(source_ids, target_ids);
  }
  /// ValueError when asked for scheduled sampling: all steps are computed at once.
  Tensor logits(const Tensor& source_ids, const Tensor& target_ids,
                const ScheduledSampling& sampling = {}) const override;
  /// The heads of the last layer of the decoder.
  Tensor alignment(const Tensor& source_ids, const Tensor& target_ids) const override;
  std::unique_ptr<Decoding> decoding(const Tensor& source_ids) const override;
  Tensor encode(const Tensor& source_ids) const;
  /// The logits of the targets behind those in the cache. target_keep_mask (B, T) is of all
  /// targets, those in the cache and these.
  Tensor step(const Tensor& target_ids, DecoderCache& cache, const Tensor& memory_keep_mask,
              const Tensor& target_keep_mask = {}) const;
  /// Which tokens are no padding, (B, T); undefined without a padding_idx.
  Tensor keep_mask(const Tensor& ids) const;
  void visit(Visitor& v) override;

 private:
  Tensor decode(const Tensor& source_ids, const Tensor& target_ids, Tensor* weights) const;
  Tensor embed(const Embedding& table, const Tensor& ids, int64_t offset = 0) const;
  TransformerOptions o_;
};

/// Writes a target for each source: for generate() and beam_search().
class TransformerDecoding : public Decoding {
 public:
  TransformerDecoding(const Transformer& model, const Tensor& source_ids);
  Tensor next(const Tensor& ids) override;
  void select(const Tensor& rows) override;

 private:
  const Transformer& model_;
  Tensor keep_, read_;  // which tokens are no padding: of the source, and of what was read
  DecoderCache cache_;
};

}  // namespace fovea
