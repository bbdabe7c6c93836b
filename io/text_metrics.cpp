#include "fovea/io/text_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/core/error.h"

namespace fovea {
namespace {

double ratio(int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

// One row of the table of prefixes at a time: at[j] turns the reference read so far into the first
// j tokens of the hypothesis. Insertions less deletions are the difference of the lengths, so among
// the shortest ways the one with most substitutions is one result.
template <class T>
Edits fewest_edits(std::span<const T> reference, std::span<const T> hypothesis) {
  struct Way {
    int64_t total, substitutions;
    bool operator<(const Way& o) const {
      return total != o.total ? total < o.total : substitutions > o.substitutions;
    }
  };
  std::vector<Way> at(hypothesis.size() + 1);
  for (size_t j = 0; j < at.size(); ++j) at[j] = {static_cast<int64_t>(j), 0};
  for (const T& r : reference) {
    Way diagonal = at[0];
    at[0].total += 1;
    for (size_t j = 1; j < at.size(); ++j) {
      const bool differ = !(r == hypothesis[j - 1]);
      const Way kept{diagonal.total + differ, diagonal.substitutions + differ};
      const Way inserted{at[j - 1].total + 1, at[j - 1].substitutions};
      const Way deleted{at[j].total + 1, at[j].substitutions};
      diagonal = at[j];
      at[j] = std::min({kept, inserted, deleted});
    }
  }
  const Way best = at.back();
  const auto longer =
      static_cast<int64_t>(hypothesis.size()) - static_cast<int64_t>(reference.size());
  const int64_t moved = best.total - best.substitutions;  // insertions and deletions
  return {.insertions = (moved + longer) / 2,
          .deletions = (moved - longer) / 2,
          .substitutions = best.substitutions};
}

}  // namespace

Edits edit_distance(std::span<const int32_t> reference, std::span<const int32_t> hypothesis) {
  return fewest_edits(reference, hypothesis);
}
Edits edit_distance(std::span<const int64_t> reference, std::span<const int64_t> hypothesis) {
  return fewest_edits(reference, hypothesis);
}
Edits edit_distance(std::span<const std::string> reference,
                    std::span<const std::string> hypothesis) {
  return fewest_edits(reference, hypothesis);
}

template <class T>
Edits ErrorRate::add_best(const std::vector<T>& hypothesis,
                          const std::vector<std::vector<T>>& references) {
  if (references.empty()) throw ValueError("ErrorRate: a hypothesis without a reference");
  Edits best;
  size_t length = 0;
  bool any = false;
  for (const std::vector<T>& r : references) {
    const Edits edits = edit_distance(std::span<const T>(r), std::span<const T>(hypothesis));
    const bool fewer = edits.total() < best.total();
    if (!any || fewer || (edits.total() == best.total() && r.size() > length)) {
      best = edits;
      length = r.size();
      any = true;
    }
  }
  edits_.insertions += best.insertions;
  edits_.deletions += best.deletions;
  edits_.substitutions += best.substitutions;
  reference_length_ += static_cast<int64_t>(length);
  sequences_ += 1;
  wrong_ += best.total() > 0 ? 1 : 0;
  return best;
}

Edits ErrorRate::add(const std::vector<std::string>& hypothesis,
                     const std::vector<std::vector<std::string>>& references) {
  return add_best(hypothesis, references);
}
Edits ErrorRate::add(const std::vector<int64_t>& hypothesis,
                     const std::vector<std::vector<int64_t>>& references) {
  return add_best(hypothesis, references);
}
Edits ErrorRate::add(const std::vector<int32_t>& hypothesis,
                     const std::vector<std::vector<int32_t>>& references) {
  return add_best(hypothesis, references);
}

double ErrorRate::rate() const { return ratio(edits_.total(), reference_length_); }
double ErrorRate::sequence_rate() const { return ratio(wrong_, sequences_); }

void Perplexity::add(double nll, int64_t tokens) {
  if (tokens < 0) {
    throw ValueError(fmt::format("Perplexity: a sum over {} tokens; need at least 0", tokens));
  }
  nll_ += nll;
  tokens_ += tokens;
}

double Perplexity::mean_nll() const { return nll_ / static_cast<double>(tokens_); }
double Perplexity::value() const { return std::exp(mean_nll()); }

}  // namespace fovea
