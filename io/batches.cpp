#include "fovea/io/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "fovea/core/error.h"
#include "fovea/core/random.h"
#include "fovea/io/vocabulary.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

// The streams of shuffling lie apart from those that a default generator of the same seed gives
// to initial weights and dropout.
std::vector<int64_t> permutation(int64_t n, uint64_t seed, uint64_t stream) {
  Generator g;
  g.set_state({seed, uint64_t{1} << 63 | stream});
  return randperm(n, &g).to_vector<int64_t>();
}

// The length of a pair in a batch: its target has one more, begin or end.
int64_t padded_length(const PairCorpus& c, int64_t pair) {
  return std::max(c.source.length(pair), c.target.length(pair) + 1);
}

// Cuts the order where batches are full.
void cut(const PairCorpus& corpus, const BatchOptions& o, BatchPlan& plan) {
  const auto n = static_cast<int64_t>(plan.order.size());
  int64_t begin = 0, longest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t length = padded_length(corpus, plan.order[static_cast<size_t>(i)]);
    longest = std::max(longest, length);
    const int64_t size = i - begin + 1;
    const bool overfull = o.max_tokens > 0 && size * longest > o.max_tokens;
    if (i > begin && (size > o.batch_size || overfull)) {
      plan.first.push_back(i);
      begin = i;
      longest = length;
    }
  }
  plan.first.push_back(n);
}

BatchPlan in_order_of(const BatchPlan& plan, const std::vector<int64_t>& batches) {
  BatchPlan result;
  result.order.reserve(plan.order.size());
  result.first.reserve(plan.first.size());
  for (const int64_t b : batches) {
    const auto pairs = plan[b];
    result.order.insert(result.order.end(), pairs.begin(), pairs.end());
    result.first.push_back(static_cast<int64_t>(result.order.size()));
  }
  return result;
}

void check_epoch(int64_t epoch) {
  if (epoch < 0) {
    throw ValueError(fmt::format("PairBatches: the epoch is {}; they count from 0", epoch));
  }
}

int64_t* values(const Tensor& t) { return t.data<int64_t>(); }

}  // namespace

PairBatches::PairBatches(const PairCorpus& corpus, const BatchOptions& o)
    : corpus_(&corpus), options_(o) {
  if (corpus.source.size() != corpus.target.size() || corpus.size() == 0) {
    throw ValueError(
        fmt::format("PairBatches: the corpus has {} sources and {} targets; need as many, and one "
                    "at least",
                    corpus.source.size(), corpus.target.size()));
  }
  if (o.batch_size < 1 || o.window < 1 || o.max_tokens < 0) {
    throw ValueError(
        fmt::format("PairBatches: batch_size is {}, window {}, max_tokens {}; need batch_size >= "
                    "1, window >= 1 and max_tokens >= 0",
                    o.batch_size, o.window, o.max_tokens));
  }
  for (int64_t i = 0; i < corpus.size(); ++i) {
    if (corpus.source.length(i) == 0) {
      throw ValueError(fmt::format("PairBatches: the source of pair {} is empty; leave it out", i));
    }
  }
}

BatchPlan PairBatches::plan(int64_t epoch) const {
  check_epoch(epoch);
  const int64_t n = corpus_->size();
  BatchPlan plan;
  if (!options_.shuffle) {
    plan.order.resize(static_cast<size_t>(n));
    std::iota(plan.order.begin(), plan.order.end(), 0);
    cut(*corpus_, options_, plan);
    return plan;
  }
  const auto stream = 2 * static_cast<uint64_t>(epoch);
  plan.order = permutation(n, options_.seed, stream);
  if (options_.window > 1) {
    const auto lengths = [&](int64_t pair) {
      return std::make_tuple(corpus_->target.length(pair), corpus_->source.length(pair));
    };
    // In batches of window * batch_size pairs, a product that may be too large for a number.
    const int64_t batches = std::min(options_.window, n / options_.batch_size + 1);
    const int64_t step = batches * std::min(options_.batch_size, n);
    for (int64_t begin = 0; begin < n; begin += step) {
      std::stable_sort(plan.order.begin() + begin, plan.order.begin() + std::min(begin + step, n),
                       [&](int64_t a, int64_t b) { return lengths(a) < lengths(b); });
    }
  }
  cut(*corpus_, options_, plan);
  return in_order_of(plan, permutation(plan.size(), options_.seed, stream + 1));
}

int64_t PairBatches::count(int64_t epoch) const {
  check_epoch(epoch);
  if (options_.max_tokens > 0) return plan(epoch).size();
  return (corpus_->size() - 1) / options_.batch_size + 1;
}

PairBatch PairBatches::make(std::span<const int64_t> pairs) const {
  int64_t longest_source = 0, longest_target = 0;
  for (const int64_t pair : pairs) {
    if (pair < 0 || pair >= corpus_->size()) {
      throw IndexError(
          fmt::format("PairBatches: pair {} is outside [0, {})", pair, corpus_->size()));
    }
    longest_source = std::max(longest_source, corpus_->source.length(pair));
    longest_target = std::max(longest_target, corpus_->target.length(pair) + 1);
  }
  const auto n = static_cast<int64_t>(pairs.size());
  PairBatch batch{.source = Tensor::empty({n, longest_source}, i64),
                  .target_in = Tensor::empty({n, longest_target}, i64),
                  .target_out = Tensor::empty({n, longest_target}, i64),
                  .source_length = Tensor::empty({n}, i64),
                  .target_length = Tensor::empty({n}, i64),
                  .indices = Tensor::empty({n}, i64)};
  std::copy(pairs.begin(), pairs.end(), values(batch.indices));
  for (int64_t b = 0; b < n; ++b) {
    const int64_t pair = pairs[static_cast<size_t>(b)];
    const auto x = corpus_->source[pair], y = corpus_->target[pair];
    int64_t* row = values(batch.source) + b * longest_source;
    std::fill(std::copy(x.begin(), x.end(), row), row + longest_source, Vocabulary::pad);

    row = values(batch.target_in) + b * longest_target;
    *row = Vocabulary::begin;
    std::fill(std::copy(y.begin(), y.end(), row + 1), row + longest_target, Vocabulary::pad);

    row = values(batch.target_out) + b * longest_target;
    int64_t* after = std::copy(y.begin(), y.end(), row);
    *after = Vocabulary::end;
    std::fill(after + 1, row + longest_target, Vocabulary::pad);

    batch.source_tokens += values(batch.source_length)[b] = static_cast<int64_t>(x.size());
    batch.target_tokens += values(batch.target_length)[b] = static_cast<int64_t>(y.size()) + 1;
  }
  return batch;
}

}  // namespace fovea
