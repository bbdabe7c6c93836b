// What turns one sequence into another: a model that reads a source and writes a target.
#pragma once

#include <memory>

#include "fovea/nn/module.h"
#include "fovea/nn/transformer/generate.h"

namespace fovea {

/// How a decoder is fed while it learns: some tokens of the target are replaced by what the model
/// itself draws in their place, so that it learns to go on from its own mistakes. Bengio 2015.
struct ScheduledSampling {
  double probability = 0;          ///< of each token behind the first; 0: teacher forcing
  Generator* generator = nullptr;  ///< of these draws; the thread's default when null
};

/// Training shows the decoder the right target, one place behind: target = [begin, y_1 ... y_n],
/// asked for [y_1 ... y_n, end]. Padding, at the right of either side, changes nothing.
class EncoderDecoder : public Module {
 public:
  /// source i64 (B, S), target i64 (B, T) -> logits (B, T, V): row t is of what follows target t.
  /// ShapeError and DTypeError for ids of other shapes or types, IndexError for one outside the
  /// vocabulary, ValueError for a probability that is none.
  virtual Tensor logits(const Tensor& source, const Tensor& target,
                        const ScheduledSampling& sampling = {}) const = 0;
  /// What each step of such a target looked at, (B, maps, T, S): several maps where there are
  /// several heads. In training mode with dropout, as logits() is: call eval() first for what the
  /// model does when it writes. ValueError of a model that does not look.
  virtual Tensor alignment(const Tensor& source, const Tensor& target) const = 0;
  /// A target for each source, for generate() and beam_search(). The model must outlive it.
  virtual std::unique_ptr<Decoding> decoding(const Tensor& source) const = 0;

 protected:
  /// ValueError unless 0 <= probability <= 1.
  static void check_sampling(const ScheduledSampling& s);
};

}  // namespace fovea
