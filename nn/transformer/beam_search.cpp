// Beam search: the likeliest texts, not the likeliest next tokens.
//
// Each prompt keeps `beams` unfinished texts. A step looks at every token behind every one of them,
// and keeps the best; a text whose stop is among the best is finished. Sutskever 2014, section 3.2.
// A prompt is done when no unfinished text can reach the score of the finished ones: to end as soon
// as `beams` are finished would take the short for the likely.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/core/error.h"
#include "fovea/nn/transformer/detail/ids.h"
#include "fovea/nn/transformer/generate.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

struct Beam {
  std::vector<int64_t> ids;
  double log_probability = 0;
};

struct Candidate {
  int64_t beam, token;
  double log_probability;
};

// The beams of one prompt.
struct Search {
  std::vector<Beam> alive{Beam{}};
  std::vector<Hypothesis> finished;  // best first
};

double score_of(double log_probability, size_t length, double alpha) {
  return log_probability / std::pow((5 + static_cast<double>(length)) / 6, alpha);
}

// Row `row` of the coverage penalties, (N).
struct Penalties {
  std::vector<double> rows = {};
  double of(int64_t row) const { return rows.empty() ? 0 : rows[static_cast<size_t>(row)]; }
};

// beta sum_j log(min(c_j, 1)), kept finite where nothing was looked at.
Penalties penalties(const Decoding& decoding, double beta) {
  if (beta == 0) return {};
  const Tensor c = decoding.coverage();
  if (!c.defined()) {
    throw ValueError(fmt::format(
        "beam_search: coverage_penalty is {}; this model keeps no coverage, leave it at 0", beta));
  }
  return {to(beta * sum(log(clamp(to(c, f64), 1e-10, 1)), -1), f64).to_vector<double>()};
}

// Whether a beam, longer or not, may still be better than the worst of `width` finished texts. Its
// probability can only fall; a positive alpha lifts the longest most; and penalties of coverage are
// 0 at best.
bool may_improve(const Search& s, const BeamOptions& o) {
  if (static_cast<int64_t>(s.finished.size()) < o.beams) return true;
  const double worst = s.finished.back().score;
  return std::any_of(s.alive.begin(), s.alive.end(), [&](const Beam& b) {
    const size_t length = o.length_penalty > 0 ? static_cast<size_t>(o.max_tokens) : b.ids.size();
    return score_of(b.log_probability, length, o.length_penalty) > worst;
  });
}

void keep_best(std::vector<Hypothesis>& all, size_t width) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Hypothesis& x, const Hypothesis& y) { return x.score > y.score; });
  if (all.size() > width) all.resize(width);
}

// The n best tokens behind the beams, best first; of equals the first. Tokens that cannot be are
// left out.
std::vector<Candidate> candidates(const std::vector<Beam>& alive, const double* logp, int64_t vocab,
                                  size_t n) {
  std::vector<Candidate> all;
  for (size_t b = 0; b < alive.size(); ++b) {
    for (int64_t t = 0; t < vocab; ++t) {
      const double p = logp[static_cast<int64_t>(b) * vocab + t];
      if (std::isnan(p)) {
        throw ValueError(
            fmt::format("beam_search: the log-probability of token {} is NaN; the logits must not "
                        "hold NaN, nor -inf alone",
                        t));
      }
      if (std::isinf(p)) continue;
      all.push_back({static_cast<int64_t>(b), t, alive[b].log_probability + p});
    }
  }
  n = std::min(n, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), all.end(),
                    [](const Candidate& x, const Candidate& y) {
                      if (x.log_probability != y.log_probability) {
                        return x.log_probability > y.log_probability;
                      }
                      return x.beam != y.beam ? x.beam < y.beam : x.token < y.token;
                    });
  all.resize(n);
  return all;
}

void check(const BeamOptions& o) {
  if (o.beams >= 1 && std::isfinite(o.length_penalty) && std::isfinite(o.coverage_penalty) &&
      o.coverage_penalty >= 0) {
    return;
  }
  throw ValueError(
      fmt::format("beam_search: beams is {}, length_penalty is {}, coverage_penalty is {}; need at "
                  "least 1, a finite number, and one that is not negative",
                  o.beams, o.length_penalty, o.coverage_penalty));
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(Decoding& decoding, const Tensor& prompt,
                                                 const BeamOptions& o) {
  detail::check_prompt("beam_search", prompt, o.max_tokens);
  check(o);
  const NoGrad scope;
  const auto width = static_cast<size_t>(o.beams);
  std::vector<Search> searches(static_cast<size_t>(prompt.size(0)));
  const auto finish = [&](Search& s, const Beam& b, double penalty) {
    s.finished.push_back({b.ids, b.log_probability,
                          score_of(b.log_probability, b.ids.size(), o.length_penalty) + penalty});
  };

  Tensor fresh = prompt;
  for (int64_t n = 0; n < o.max_tokens; ++n) {
    const Tensor logp = log_softmax(to(decoding.next(fresh), f64), -1).contiguous();
    const Penalties penalty = penalties(decoding, o.coverage_penalty);
    const int64_t vocab = logp.size(-1);
    const double* row = logp.data<double>();
    int64_t first = 0;                     // row of the search's first beam
    std::vector<int64_t> parents, tokens;  // of the next step, all searches
    for (Search& s : searches) {
      const auto found = candidates(s.alive, row + first * vocab, vocab, 2 * width);
      std::vector<Beam> alive;
      for (size_t rank = 0; rank < found.size() && alive.size() < width; ++rank) {
        const Candidate& c = found[rank];
        Beam b = s.alive[static_cast<size_t>(c.beam)];
        b.ids.push_back(c.token);
        b.log_probability = c.log_probability;
        if (o.stop && c.token == *o.stop) {
          if (rank < width) finish(s, b, penalty.of(first + c.beam));
          continue;
        }
        alive.push_back(std::move(b));
        parents.push_back(first + c.beam);
        tokens.push_back(c.token);
      }
      first += static_cast<int64_t>(s.alive.size());
      s.alive = std::move(alive);
      keep_best(s.finished, width);
      if (may_improve(s, o)) continue;
      parents.resize(parents.size() - s.alive.size());  // its beams leave the batch
      tokens.resize(tokens.size() - s.alive.size());
      s.alive.clear();
    }
    if (tokens.empty()) break;
    const auto rows = static_cast<int64_t>(tokens.size());
    decoding.select(from_vector(parents, {rows}));
    fresh = from_vector(tokens, {rows, 1});
  }

  std::vector<std::vector<Hypothesis>> results;
  const Penalties penalty = penalties(decoding, o.coverage_penalty);
  int64_t row = 0;
  for (Search& s : searches) {
    for (const Beam& b : s.alive) finish(s, b, penalty.of(row++));
    keep_best(s.finished, width);
    results.push_back(std::move(s.finished));
  }
  return results;
}

std::vector<std::vector<Hypothesis>> beam_search(const LanguageModel& model, const Tensor& prompt,
                                                 const BeamOptions& o) {
  LanguageDecoding decoding(model);
  return beam_search(decoding, prompt, o);
}

}  // namespace fovea
