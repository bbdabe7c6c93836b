#include "examples/seq2seq/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "fovea/core/error.h"
#include "fovea/io/batches.h"
#include "fovea/io/text_metrics.h"
#include "fovea/ops/ops.h"

namespace fovea::seq2seq {
namespace {

constexpr size_t kBatch = 64;
// Stands for `unknown` where the model writes it: equal to no token of a reference.
constexpr int32_t kNone = -1;

// Sources, some at a time, all of one length.
template <class F>
void by_length(const TokenLists& sources, F f) {
  std::vector<int64_t> order(static_cast<size_t>(sources.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return sources.length(a) < sources.length(b); });
  for (size_t first = 0, next = 0; first < order.size(); first = next) {
    const int64_t length = sources.length(order[first]);
    while (next < order.size() && next - first < kBatch && sources.length(order[next]) == length) {
      ++next;
    }
    f(std::span<const int64_t>(order.data() + first, next - first));
  }
}

// (B, S) of sources that are all of one length.
Tensor rows(const TokenLists& lists, std::span<const int64_t> which) {
  std::vector<int64_t> ids;
  for (const int64_t i : which) ids.insert(ids.end(), lists[i].begin(), lists[i].end());
  return from_vector(ids, {static_cast<int64_t>(which.size()), lists.length(which.front())});
}

// All with their first references, some at a time.
template <class F>
void teacher_forced(const HeldOut& data, F f) {
  PairCorpus pairs;
  for (int64_t i = 0; i < data.size(); ++i) {
    pairs.add(data.sources[i], data.references[static_cast<size_t>(i)].front());
  }
  const PairBatches batches(pairs, {.shuffle = false});
  by_length(pairs.source, [&](std::span<const int64_t> which) { f(batches.make(which)); });
}

}  // namespace

std::vector<Translation> translate(const EncoderDecoder& model, const TokenLists& sources,
                                   const DecodeFlags& flags) {
  std::vector<Translation> all(static_cast<size_t>(sources.size()));
  by_length(sources, [&](std::span<const int64_t> which) {
    const Tensor source = rows(sources, which);
    const auto n = static_cast<int64_t>(which.size());
    const auto decoding = model.decoding(source);
    const auto found = beam_search(*decoding, full({n, 1}, int64_t{Vocabulary::begin}, i64),
                                   {.beams = flags.beams,
                                    .max_tokens = 2 * source.size(1) + 10,
                                    .stop = int64_t{Vocabulary::end},
                                    .length_penalty = flags.length_penalty,
                                    .coverage_penalty = flags.coverage_penalty});
    for (size_t b = 0; b < which.size(); ++b) {
      Translation& t = all[static_cast<size_t>(which[b])];
      t.ids = found[b].front().ids;
      t.log_probability = found[b].front().log_probability;
      if (!t.ids.empty() && t.ids.back() == Vocabulary::end) t.ids.pop_back();
    }
  });
  return all;
}

double perplexity(const EncoderDecoder& model, const HeldOut& data) {
  const NoGrad scope;
  Perplexity p;
  teacher_forced(data, [&](const PairBatch& b) {
    const Tensor nll =
        cross_entropy(model.logits(b.source, b.target_in), b.target_out,
                      {.ignore_index = Vocabulary::pad, .reduction = Reduction::sum});
    p.add(nll.item(), b.target_tokens);
  });
  return p.value();
}

double copied_found(const EncoderDecoder& model, const HeldOut& data, const Config& c) {
  const bool copies = std::any_of(data.copied.begin(), data.copied.end(),
                                  [](const auto& from) { return !from.empty(); });
  if (c.attention == "none" || !copies) return std::nan("");
  int64_t found = 0, all = 0;
  teacher_forced(data, [&](const PairBatch& b) {
    const Tensor map = mean(model.alignment(b.source, b.target_in), 1);  // (B, T, S)
    const Tensor looked = argmax(map, 2).contiguous();
    for (int64_t i = 0; i < b.size(); ++i) {
      const auto& copied = data.copied[static_cast<size_t>(b.indices.data<int64_t>()[i])];
      for (size_t t = 0; t < copied.size(); ++t) {
        if (copied[t] < 0) continue;
        ++all;
        found += looked.data<int64_t>()[i * looked.size(1) + static_cast<int64_t>(t)] == copied[t];
      }
    }
  });
  return static_cast<double>(found) / static_cast<double>(all);
}

Scores evaluate(const EncoderDecoder& model, const Dataset& dataset, const HeldOut& data,
                const Config& c, const DecodeFlags& flags) {
  if (c.task == "pairs" && static_cast<int64_t>(data.texts.size()) != data.size()) {
    throw ValueError(
        fmt::format("evaluate: {} pairs, but {} texts", data.size(), data.texts.size()));
  }
  const auto translations = translate(model, data.sources, flags);
  ErrorRate errors;
  CorpusBleu bleu;
  std::map<int64_t, std::pair<int64_t, int64_t>> by_length;  // right, and all
  for (int64_t i = 0; i < data.size(); ++i) {
    const std::vector<int64_t>& ids = translations[static_cast<size_t>(i)].ids;
    std::vector<int32_t> written(ids.begin(), ids.end());
    std::replace(written.begin(), written.end(), int32_t{Vocabulary::unknown}, kNone);
    const Edits edits = errors.add(written, data.references[static_cast<size_t>(i)]);
    auto& [right, all] = by_length[data.sources.length(i)];
    right += edits.total() == 0;
    ++all;
    if (c.task != "pairs") continue;
    const std::string text = join_target(c, dataset.target.decode(std::span(ids)));
    bleu.add(text, {data.texts[static_cast<size_t>(i)]});
  }
  Scores s{.token_error_rate = errors.rate(),
           .sequence_error_rate = errors.sequence_rate(),
           .bleu = c.task == "pairs" ? bleu.value().score : 0,
           .perplexity = perplexity(model, data),
           .count = data.size()};
  for (const auto& [length, n] : by_length) {
    s.length.push_back(static_cast<double>(length));
    s.sequences.push_back(static_cast<double>(n.second));
    s.exact.push_back(static_cast<double>(n.first) / static_cast<double>(n.second));
  }
  return s;
}

}  // namespace fovea::seq2seq
