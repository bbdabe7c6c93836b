// BLEU: how many n-grams a translation shares with reference translations.
//
// Source: Papineni et al. 2002, "BLEU: a method for automatic evaluation of machine translation",
// as made comparable by Post 2018, "A call for clarity in reporting BLEU scores".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct Bleu {
  static constexpr size_t kOrder = 4;  // n-grams of 1 to 4 tokens

  double score = 0;                         ///< in [0, 100]
  std::array<double, kOrder> precisions{};  ///< in percent, smoothed
  double brevity_penalty = 0;               ///< 1 when the translations are long enough
  int64_t translation_length = 0;           ///< in tokens
  int64_t reference_length = 0;             ///< of the references closest in length

  std::array<int64_t, kOrder> matches{};  ///< n-grams that a reference has, clipped to its number
  std::array<int64_t, kOrder> totals{};   ///< n-grams of the translations
};

/// Tokens as mteval-v13a.pl makes them, the tokeniser "13a" of sacrebleu: entities &quot; &amp;
/// &lt; &gt; resolved; punctuation and symbols of ASCII apart; '.' and ',' apart unless between
/// digits; '-' apart after a digit. Case is kept. White space is Unicode's; a newline inside is a
/// space, and joins what a '-' before it parts.
std::vector<std::string> tokenize_13a(std::string_view sentence);

/// Of a whole corpus, added a sentence at a time. Equals sacrebleu's default,
/// nrefs:N|case:mixed|eff:no|tok:13a|smooth:exp.
class CorpusBleu {
 public:
  /// ValueError without a reference.
  void add(std::string_view translation, const std::vector<std::string>& references);
  /// The same of sentences that are tokens already, whatever their kind.
  void add_tokens(const std::vector<std::string>& translation,
                  const std::vector<std::vector<std::string>>& references);

  /// The k-th order without a match, of those with n-grams, counts as 1 / 2^k matches (smoothing
  /// "exp", NIST's). The score is 0 when nothing at all matches, and when the translations have no
  /// n-gram of some order.
  Bleu value() const;

 private:
  std::array<int64_t, Bleu::kOrder> matches_{}, totals_{};
  int64_t translation_length_ = 0, reference_length_ = 0;
};

}  // namespace fovea
