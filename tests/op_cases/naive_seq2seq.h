// The slow, obvious meaning of encoders and decoders: each sentence alone, without its padding, a
// token at a time. They take their parameters in the order of visit().
#pragma once

#include "fovea/nn/seq2seq/seq2seq.h"
#include "tests/op_cases/naive_layers.h"

namespace fovea::cases {

/// What an encoder makes of one sentence; the memory is of its words alone.
struct NaiveRead {
  std::vector<Values1d> memory;
  Values1d summary;
};
/// ids (B, S) -> one for each sentence. Of a Transformer, a single layer with gelu.
std::vector<NaiveRead> naive_encoder(const EncoderOptions& o, const NaiveTensor& ids,
                                     Parameters& p);

/// The rows f_t and a_t of one sentence, a_t over its words alone.
struct NaiveSteps {
  std::vector<Values1d> features, weights;
};
/// ids (B, T) -> one for each sentence.
std::vector<NaiveSteps> naive_decoder(const AttentionDecoderOptions& o, const NaiveTensor& ids,
                                      const std::vector<NaiveRead>& sources, Parameters& p);

}  // namespace fovea::cases
