// How far sequences are from what they should be, and how surprised a model is of them. BLEU is in
// io/bleu.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/io/bleu.h"

namespace fovea {

/// What turns one sequence into another, one token at a time.
struct Edits {
  int64_t insertions = 0;     ///< tokens that only the hypothesis has
  int64_t deletions = 0;      ///< tokens that only the reference has
  int64_t substitutions = 0;  ///< tokens that differ

  int64_t total() const { return insertions + deletions + substitutions; }
};

/// The fewest edits from reference to hypothesis (Levenshtein 1966). Where several ways are
/// shortest, the one with most substitutions is counted: total() is the distance either way.
/// O(N M) time, O(M) memory.
Edits edit_distance(std::span<const int32_t> reference, std::span<const int32_t> hypothesis);
Edits edit_distance(std::span<const int64_t> reference, std::span<const int64_t> hypothesis);
Edits edit_distance(std::span<const std::string> reference,
                    std::span<const std::string> hypothesis);

/// Edits over the length of the references, summed over a corpus before they are divided: the
/// phoneme error rate of phones, the word error rate of words. It may exceed 1.
class ErrorRate {
 public:
  /// Of several references that count which is fewest edits away; the longest of these when
  /// several are. That one's length is added too. Returns its edits. ValueError without a
  /// reference.
  Edits add(const std::vector<std::string>& hypothesis,
            const std::vector<std::vector<std::string>>& references);
  Edits add(const std::vector<int64_t>& hypothesis,
            const std::vector<std::vector<int64_t>>& references);
  Edits add(const std::vector<int32_t>& hypothesis,
            const std::vector<std::vector<int32_t>>& references);

  /// NaN over nothing; infinite for edits of references without a token.
  double rate() const;
  /// The share of hypotheses that equal none of their references: of words whose phones are not all
  /// right, the word error rate of grapheme-to-phoneme models. NaN over nothing.
  double sequence_rate() const;

  const Edits& edits() const { return edits_; }
  int64_t reference_length() const { return reference_length_; }
  int64_t sequences() const { return sequences_; }
  int64_t wrong_sequences() const { return wrong_; }

 private:
  template <class T>
  Edits add_best(const std::vector<T>& hypothesis, const std::vector<std::vector<T>>& references);

  Edits edits_;
  int64_t reference_length_ = 0, sequences_ = 0, wrong_ = 0;
};

/// exp of the mean negative log-likelihood of a token, in nats.
class Perplexity {
 public:
  /// The sum over `tokens` of them. ValueError when `tokens` is negative.
  void add(double nll, int64_t tokens);
  double mean_nll() const;  ///< NaN over nothing
  /// Infinite where exp overflows; NaN over nothing, and when a sum was NaN.
  double value() const;
  int64_t tokens() const { return tokens_; }

 private:
  double nll_ = 0;
  int64_t tokens_ = 0;
};

}  // namespace fovea
