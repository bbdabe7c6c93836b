// Sequence to sequence: an encoder that reads, a decoder that looks back and writes.
#pragma once

#include <memory>
#include <string>

#include "fovea/nn/seq2seq/decoder.h"
#include "fovea/nn/seq2seq/encoder.h"
#include "fovea/nn/seq2seq/encoder_decoder.h"

namespace fovea {

struct Seq2SeqOptions {
  int64_t source_vocab = 0, target_vocab = 0;
  int64_t embedding = 128;             ///< width of the vectors of tokens, on both sides
  int64_t hidden = 256;                ///< H of the decoder, and the width of the memory
  std::string encoder = "gru";         ///< rnn, lstm, gru or transformer
  std::string cell = "gru";            ///< of the decoder: rnn, lstm or gru
  std::string attention = "additive";  ///< see AttentionDecoderOptions
  DecoderOrder order = DecoderOrder::bahdanau;
  bool input_feeding = true;
  int64_t encoder_layers = 1, decoder_layers = 1;
  bool bidirectional = true;  ///< the encoder: half of `hidden` for each direction
  int64_t heads = 4;          ///< of a Transformer's encoder
  int64_t window = 10;        ///< of local attention
  int64_t max_source = 0;     ///< of location: the longest source
  double dropout = 0;
  int64_t padding_idx = -1;  ///< of both vocabularies; -1: none
  DType dtype = f32;
};

/// Any encoder with any recurrent decoder. Parameters "encoder" and "decoder".
class Seq2Seq : public EncoderDecoder {
 public:
  std::unique_ptr<Encoder> encoder;
  AttentionDecoder decoder;

  explicit Seq2Seq(const Seq2SeqOptions& o);

  Tensor logits(const Tensor& source, const Tensor& target,
                const ScheduledSampling& sampling = {}) const override;
  Tensor alignment(const Tensor& source, const Tensor& target) const override;
  std::unique_ptr<Decoding> decoding(const Tensor& source) const override;
  void visit(Visitor& v) override;
};

}  // namespace fovea
