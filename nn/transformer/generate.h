// Writing: one token after another, each drawn from what the model holds likely.
#pragma once

#include <optional>
#include <vector>

#include "fovea/core/random.h"
#include "fovea/nn/transformer/language_model.h"

namespace fovea {

/// N texts that are being written, and the model that writes them.
class Decoding {
 public:
  virtual ~Decoding() = default;
  /// Reads ids i64 (N, t) behind what was read before; the logits (N, V) of what follows.
  virtual Tensor next(const Tensor& ids) = 0;
  /// Text i becomes what text rows[i] was, i64 (n).
  virtual void select(const Tensor& rows) = 0;
  /// The attention that each token of the source got so far, summed over steps, (N, S), padding
  /// counted as 1. Undefined of what has no source or does not keep it.
  virtual Tensor coverage() const { return {}; }
};

/// By a language model, with a cache. When a text grows past the model's context, its last tokens
/// are read again at each step, as many as fit.
class LanguageDecoding : public Decoding {
 public:
  explicit LanguageDecoding(const LanguageModel& model) : model_(model), cache_(model.cache()) {}
  Tensor next(const Tensor& ids) override;
  void select(const Tensor& rows) override;

 private:
  const LanguageModel& model_;
  KvCache cache_;
  Tensor read_;  // all ids so far, (N, T)
};

struct SampleOptions {
  /// Logits are divided by it: below 1 surer, above 1 bolder. 0 takes the likeliest (greedy).
  double temperature = 1;
  int64_t top_k = 0;  ///< only the k likeliest; 0: all. Fan 2018
  double top_p = 1;   ///< only the fewest whose probabilities reach p ("nucleus"). Holtzman 2019
};
/// A token for each row of logits (..., V) -> i64 (...). ValueError for options outside their
/// meaning and for a row of -inf alone or with NaN; ShapeError when there are no tokens.
Tensor sample_token(const Tensor& logits, const SampleOptions& o = {}, Generator* g = nullptr);

struct GenerateOptions {
  int64_t max_tokens = 100;          ///< to write, at most
  std::optional<int64_t> stop = {};  ///< the token that ends a text
  SampleOptions sample = {};
  Generator* generator = nullptr;  ///< the thread's default when null: same seed, same text
};
/// prompt i64 (N, t), t >= 1 -> i64 (N, t + n), n <= max_tokens: the prompt and what follows. A
/// text that has ended is filled up with `stop`. ShapeError for an empty prompt.
Tensor generate(Decoding& decoding, const Tensor& prompt, const GenerateOptions& o = {});
Tensor generate(const LanguageModel& model, const Tensor& prompt, const GenerateOptions& o = {});

struct BeamOptions {
  int64_t beams = 4;
  int64_t max_tokens = 100;
  std::optional<int64_t> stop = {};
  /// alpha of the divisor ((5 + n) / 6)^alpha, n the number of tokens written: 0 prefers short
  /// texts, 1 about compares means. Wu 2016, eq. 14.
  double length_penalty = 0;
  /// beta of the coverage penalty beta sum_j log(min(sum_t a_tj, 1)), which asks of a finished text
  /// that no part of the source was passed over; one that was never looked at counts as 1e-10. Wu
  /// 2016, eq. 14. ValueError when it is not 0 and the decoding has no coverage().
  double coverage_penalty = 0;
};
struct Hypothesis {
  std::vector<int64_t> ids;    ///< written, the stop with them when there was one
  double log_probability = 0;  ///< of all of ids
  double score = 0;            ///< with the penalties: what hypotheses are ranked by
};
/// For each prompt (N, t) the best texts found, best first, at most `beams` of them. One beam
/// without a length penalty is greedy generation. ValueError for logits with NaN.
std::vector<std::vector<Hypothesis>> beam_search(Decoding& decoding, const Tensor& prompt,
                                                 const BeamOptions& o = {});
std::vector<std::vector<Hypothesis>> beam_search(const LanguageModel& model, const Tensor& prompt,
                                                 const BeamOptions& o = {});

}  // namespace fovea
