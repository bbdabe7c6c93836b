// A text as numbers, cut into what is trained on and what is not.
#pragma once

#include <vector>

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

/// Windows of a text in random order. In every pass the text is cut from another place on, and each
/// window comes once. A function of the seed and the step alone, so that a run can be resumed.
class WindowOrder {
 public:
  WindowOrder(const Tensor& text, int64_t batch, int64_t context, uint64_t seed);
  Windows at(int64_t step);

 private:
  void begin_pass(int64_t pass);
  Tensor text_;
  int64_t batch_, context_, count_;  // windows in a pass
  uint64_t seed_;
  int64_t pass_ = -1, offset_ = 0;
  std::vector<int64_t> order_;
};

/// The mean cross-entropy in nats over the text, cut into windows side by side; of the first
/// `most` windows when that is not 0.
double text_loss(const GPT& model, const Tensor& text, int64_t most = 0);

}  // namespace fovea::char_gpt
