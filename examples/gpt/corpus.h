// A text as numbers, cut into what is trained on and what is not.
#pragma once

#include "fovea/io/characters.h"
#include "fovea/nn/transformer/gpt.h"

namespace fovea::char_gpt {

/// The first 90 % train, the rest validates.
struct Corpus {
  Characters characters;
  Tensor train, valid;  ///< i64 (T)

  /// IoError for a file that cannot be read, is not UTF-8, or is too short for windows of
  /// `context` in both parts.
  static Corpus read(const std::string& path, int64_t context);
};

struct Windows {
  Tensor ids, next;  ///< i64 (B, T), and the same one place on
};
/// B windows at random places of the text: those of this seed and step.
Windows draw_windows(const Tensor& text, int64_t batch, int64_t context, uint64_t seed,
                     int64_t step);

/// The mean cross-entropy in nats over the text, cut into windows side by side; of the first
/// `most` windows when that is not 0.
double text_loss(const GPT& model, const Tensor& text, int64_t most = 0);

}  // namespace fovea::char_gpt
