// What turns one sequence into another: a model that reads a source and writes a target.
#pragma once

#include <memory>

#include "fovea/nn/module.h"
#include "fovea/nn/transformer/generate.h"

namespace fovea {

/// How a decoder is fed while it learns.
struct Teaching {
  /// Scheduled sampling: the probability with which a token of the target is replaced by one that
  /// the model itself draws in its place, so that it learns to go on from its own mistakes. 0:
  /// teacher forcing. Bengio 2015.
  double sampling = 0;
  Generator* generator = nullptr;  ///< of these draws; the thread's default when null
};

/// Training shows the decoder the right target, one place behind: target = [begin, y_1 ... y_n],
/// asked for [y_1 ... y_n, end]. Padding, at the right of either side, changes nothing.
class EncoderDecoder : public Module {
 public:
  /// source i64 (B, S), target i64 (B, T) -> logits (B, T, V): row t is of what follows target t.
  virtual Tensor logits(const Tensor& source, const Tensor& target,
                        const Teaching& teaching = {}) const = 0;
  /// What each step of such a target looked at, (B, maps, T, S): several maps where there are
  /// several heads. ShapeError of a model that does not look.
  virtual Tensor alignment(const Tensor& source, const Tensor& target) const = 0;
  /// A target for each source, for generate() and beam_search().
  virtual std::unique_ptr<Decoding> decoding(const Tensor& source) const = 0;

 protected:
  /// ValueError unless sampling is a probability.
  static void check_teaching(const Teaching& t);
};

}  // namespace fovea
