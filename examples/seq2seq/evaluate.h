// How good a model is: what it writes, against what is right.
#pragma once

#include <string>
#include <vector>

#include "examples/seq2seq/dataset.h"
#include "fovea/nn/seq2seq/encoder_decoder.h"

namespace fovea::seq2seq {

struct Translation {
  std::vector<int64_t> ids;    ///< without the end
  double log_probability = 0;  ///< of all of it, the end too
};

/// The best target found for each source, in order, of at most twice as many tokens and ten. Only
/// sources of one length are decoded together: none is padded, and the limit is that of each.
std::vector<Translation> translate(const EncoderDecoder& model, const TokenLists& sources,
                                   const DecodeFlags& flags);

/// exp of the mean cross-entropy of a token, teacher-forced, of the first reference of each.
double perplexity(const EncoderDecoder& model, const HeldOut& data);

struct Scores {
  double token_error_rate = 0;     ///< edits over the tokens of the nearest reference
  double sequence_error_rate = 0;  ///< the share that equals no reference
  double bleu = 0;                 ///< of pairs; see io/bleu.h
  double perplexity = 0;
  int64_t count = 0;
  /// By the length of the source: how many there are, and the share that is right.
  std::vector<double> length = {}, sequences = {}, exact = {};
};
/// A token that the target vocabulary does not have is never right: what the model leaves out is no
/// merit. ValueError when pairs are tested without their texts.
Scores evaluate(const EncoderDecoder& model, const Dataset& dataset, const HeldOut& data,
                const Config& c, const DecodeFlags& flags);

/// Of the tokens that are copied from the source, teacher-forced, the share for which the map (the
/// mean of the heads) is largest at the very token that was copied. NaN when the task copies
/// nothing or the model does not look.
double copied_found(const EncoderDecoder& model, const HeldOut& data, const Config& c);

}  // namespace fovea::seq2seq
