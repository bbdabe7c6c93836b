// Pairs of sequences, several at a time, padded to rectangles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/core/tensor.h"
#include "fovea/io/token_lists.h"

namespace fovea {

/// All i64. Rows are padded at the right with Vocabulary::pad. S is the longest source, T the
/// longest target and its end. For a target y:  target_in = [begin, y...], what a decoder reads;
/// target_out = [y..., end], what it learns to answer.
struct PairBatch {
  Tensor source;              ///< (B, S)
  Tensor target_in;           ///< (B, T)
  Tensor target_out;          ///< (B, T)
  Tensor source_length;       ///< (B) of tokens without padding
  Tensor target_length;       ///< (B) of tokens with begin (target_in) or end (target_out)
  Tensor indices;             ///< (B) the places of the pairs in the corpus
  int64_t source_tokens = 0;  ///< the sums of the lengths: what a mean over tokens divides by
  int64_t target_tokens = 0;

  int64_t size() const { return indices.numel(); }
};

struct BatchOptions {
  int64_t batch_size = 64;
  /// A batch also ends before B * max(S, T) would exceed this. A pair longer than that is a batch
  /// of its own. 0: no limit.
  int64_t max_tokens = 0;
  /// Without, the pairs come in the order of the corpus, the same every epoch: for evaluation.
  bool shuffle = true;
  /// Pairs are sorted by length within `window` batches at a time, so that a batch holds pairs of
  /// about one length and little padding. 1: no sorting.
  int64_t window = 100;
  uint64_t seed = 0;
};

/// Which pairs stand together, and in which order: batch b holds order[first[b]] up to, without it,
/// order[first[b + 1]].
struct BatchPlan {
  std::vector<int64_t> order;
  std::vector<int64_t> first = {0};

  int64_t size() const { return static_cast<int64_t>(first.size()) - 1; }
  std::span<const int64_t> operator[](int64_t b) const {
    const auto i = static_cast<size_t>(b);
    return {order.data() + first[i], static_cast<size_t>(first[i + 1] - first[i])};
  }
};

/// The batches of a corpus, which must outlive it. Every pair is in exactly one batch of an epoch.
/// All is a function of the corpus, the options and the epoch: no state, any thread may ask.
class PairBatches {
 public:
  /// ValueError for an empty corpus, sides of different counts, an empty source, batch_size or
  /// window below 1 and a negative max_tokens.
  explicit PairBatches(const PairCorpus& corpus, const BatchOptions& o = {});
  virtual ~PairBatches() = default;

  /// Shuffles the pairs, sorts each window by the length of target, then source, cuts it into
  /// batches, and shuffles the batches. ValueError for a negative epoch.
  BatchPlan plan(int64_t epoch) const;
  /// plan(epoch).size(), which is the same for every epoch unless max_tokens is set.
  int64_t count(int64_t epoch) const;
  /// The batch of these pairs. Records nothing and runs no operation: plain loops, for a thread
  /// beside the one that trains. Override it to change batches on their way, with dropped words
  /// say. IndexError for a pair outside the corpus.
  virtual PairBatch make(std::span<const int64_t> pairs) const;

  const PairCorpus& corpus() const { return *corpus_; }
  const BatchOptions& options() const { return options_; }

 private:
  const PairCorpus* corpus_;
  BatchOptions options_;
};

}  // namespace fovea
