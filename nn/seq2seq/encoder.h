// Encoders: a source as a memory, a vector for each token, and as a summary, one vector for all.
#pragma once

#include <memory>
#include <string>

#include "fovea/nn/dropout.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/position/sinusoidal.h"
#include "fovea/nn/recurrent/recurrent.h"
#include "fovea/nn/transformer/encoder.h"

namespace fovea {

/// A source that was read.
struct Encoded {
  Tensor memory;     ///< (B, S, M), a vector for each token
  Tensor summary;    ///< (B, M), what one vector can hold of all of them
  Tensor keep_mask;  ///< bool (B, S), true = a token; undefined: no padding
};

struct EncoderOptions {
  std::string kind = "gru";  ///< rnn, lstm, gru or transformer
  int64_t vocab = 0;
  int64_t embedding = 0;  ///< width of the tokens' vectors; of a Transformer M itself
  int64_t width = 0;      ///< M: of both directions together, so H = M / 2 with two
  int64_t layers = 1;
  bool bidirectional = true;  ///< of the recurrent ones
  int64_t heads = 4;          ///< of a Transformer
  double dropout = 0;  ///< of embeddings; between layers and of the memory (recurrent), or inside
                       ///< each layer (Transformer)
  int64_t padding_idx = -1;  ///< these tokens are no tokens; -1: none
  DType dtype = f32;
};

/// Parameters "embedding" and "layers". ValueError for options outside their meaning.
class Encoder : public Module {
 public:
  Embedding embedding;
  Dropout dropout;

  /// ids i64 (B, S) -> memory (B, S, M), summary (B, M), and keep_mask (B, S) where there is a
  /// padding_idx. ShapeError for ids of another rank and for S = 0, DTypeError unless i64,
  /// IndexError for an id outside the vocabulary.
  virtual Encoded operator()(const Tensor& ids) const = 0;
  int64_t width() const { return width_; }
  void visit(Visitor& v) override;

 protected:
  Encoder(const EncoderOptions& o, int64_t embedding_width);
  /// Which tokens are no padding, (B, S); undefined without a padding_idx. ShapeError or DTypeError
  /// unless ids are i64 (B, S), S >= 1.
  Tensor words(const Tensor& ids) const;

 private:
  int64_t width_;
};

/// The summary is the last state of each direction of the last layer: what Sutskever 2014 handed
/// on. Memory: Bahdanau 2014, section 3.2. ValueError when called with a token behind padding, and
/// at construction when the width is not a multiple of the directions.
class RecurrentEncoder : public Encoder {
 public:
  std::unique_ptr<Recurrent> layers;

  explicit RecurrentEncoder(const EncoderOptions& o);
  Encoded operator()(const Tensor& ids) const override;
  void visit(Visitor& v) override;
};

/// The summary is the mean over tokens, 0 where there are none. Vaswani 2017. Its width is that of
/// the embedding and a multiple of heads, or ValueError.
class TransformerSourceEncoder : public Encoder {
 public:
  SinusoidalPositions positions;
  TransformerEncoder layers;

  explicit TransformerSourceEncoder(const EncoderOptions& o);
  Encoded operator()(const Tensor& ids) const override;
  void visit(Visitor& v) override;
};

/// ValueError for another kind, and where the encoders complain.
std::unique_ptr<Encoder> make_encoder(const EncoderOptions& o);

}  // namespace fovea
