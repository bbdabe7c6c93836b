#include "fovea/io/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "fovea/core/error.h"
#include "fovea/io/vocabulary.h"

namespace fovea {
namespace {

using Tokens = std::vector<std::string>;
using Ngrams = std::unordered_map<std::string, int64_t>;

// How often each run of n tokens occurs. Lengths before the tokens keep {"a b"} from {"a", "b"}.
Ngrams ngrams(const Tokens& tokens, size_t n) {
  Ngrams counts;
  std::string key;
  for (size_t i = 0; i + n <= tokens.size(); ++i) {
    key.clear();
    for (size_t k = i; k < i + n; ++k)
      key.append(std::to_string(tokens[k].size())).append(" ").append(tokens[k]);
    counts[key] += 1;
  }
  return counts;
}

// Of the references; the shorter of two that are equally close.
int64_t closest_length(size_t length, const std::vector<Tokens>& references) {
  int64_t best = static_cast<int64_t>(references[0].size());
  const auto distance = [&](int64_t n) { return std::abs(n - static_cast<int64_t>(length)); };
  for (const Tokens& r : references) {
    const auto n = static_cast<int64_t>(r.size());
    if (distance(n) < distance(best) || (distance(n) == distance(best) && n < best)) best = n;
  }
  return best;
}

}  // namespace

void CorpusBleu::add(std::string_view translation, const std::vector<std::string>& references) {
  std::vector<Tokens> tokens;
  for (const std::string& r : references) tokens.push_back(tokenize_13a(r));
  add_tokens(tokenize_13a(translation), tokens);
}

void CorpusBleu::add_tokens(const Tokens& translation, const std::vector<Tokens>& references) {
  if (references.empty()) throw ValueError("CorpusBleu: a translation without a reference");
  translation_length_ += static_cast<int64_t>(translation.size());
  reference_length_ += closest_length(translation.size(), references);
  for (size_t n = 1; n <= Bleu::kOrder; ++n) {
    Ngrams most;  // the most that any one reference has of each
    for (const Tokens& r : references) {
      for (const auto& [ngram, count] : ngrams(r, n)) most[ngram] = std::max(most[ngram], count);
    }
    for (const auto& [ngram, count] : ngrams(translation, n)) {
      totals_[n - 1] += count;
      if (const auto at = most.find(ngram); at != most.end()) {
        matches_[n - 1] += std::min(count, at->second);
      }
    }
  }
}

Bleu CorpusBleu::value() const {
  Bleu b;
  b.matches = matches_;
  b.totals = totals_;
  b.translation_length = translation_length_;
  b.reference_length = reference_length_;
  b.brevity_penalty = 1;
  if (translation_length_ < reference_length_) {
    // Over a translation of no length the ratio is infinite, and this 0.
    b.brevity_penalty = std::exp(1 - static_cast<double>(reference_length_) /
                                         static_cast<double>(translation_length_));
  }
  if (matches_[0] == 0) return b;  // a longer match holds one of a single token
  double missing = 1, mean_log = 0;
  for (size_t i = 0; i < Bleu::kOrder && totals_[i] > 0; ++i) {
    double matches = static_cast<double>(matches_[i]);
    if (matches_[i] == 0) matches = 1 / (missing *= 2);
    b.precisions[i] = 100 * matches / static_cast<double>(totals_[i]);
  }
  for (const double p : b.precisions) mean_log += std::log(p) / Bleu::kOrder;  // log(0) = -inf
  b.score = b.brevity_penalty * std::exp(mean_log);
  return b;
}

}  // namespace fovea
