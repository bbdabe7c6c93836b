// Translations and where the model looked for them: in the terminal, as a page, as a picture.
#pragma once

#include <string>
#include <vector>

#include "examples/seq2seq/evaluate.h"
#include "fovea/viz/attention_page.h"

namespace fovea::seq2seq {

/// How a dataset's numbers read, and where they come from.
struct Vocabularies {
  const Vocabulary &source, &target;
};

/// A source and what the model makes of it.
struct Shown {
  std::string source, target;                             ///< as people read them
  std::vector<std::string> source_tokens, target_tokens;  ///< S and T of them
  std::vector<std::vector<float>> weights;  ///< one a head, (T, S); none of a model without
  double log_probability = 0;
  std::string expected;  ///< "a, or b"; empty when not known
  bool right = false;
};

Shown translate_and_look(const EncoderDecoder& model, const Config& c, const Vocabularies& v,
                         std::span<const int32_t> source, const DecodeFlags& flags);
/// At most `count` from the held-out part, evenly spread.
std::vector<Shown> show_some(const EncoderDecoder& model, const Dataset& dataset,
                             const HeldOut& data, const Config& c, const DecodeFlags& flags,
                             int64_t count);

/// The translation, and below it the mean of the heads as a text map.
std::string text_of(const Shown& s);
struct Drawn {
  std::vector<std::string> files = {};
  int64_t left_out = 0;  ///< maps too large for the picture
};
inline constexpr int64_t kDrawnTokens = 60;  ///< on either side, at most

/// Writes attention.html and attention.png; nothing for a model that does not look.
Drawn write_attention(const std::string& folder, const Config& c, const std::vector<Shown>& shown);

}  // namespace fovea::seq2seq
