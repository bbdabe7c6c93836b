#include "examples/seq2seq/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "fovea/io/batches.h"
#include "fovea/io/text_metrics.h"
#include "fovea/ops/ops.h"

namespace fovea::seq2seq {
namespace {

constexpr int64_t kBatch = 64;

// Sources, some at a time, of about one length.
template <class F>
void by_length(const TokenLists& sources, F f) {
  const int64_t count = sources.size();
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return sources.length(a) < sources.length(b); });
  for (int64_t first = 0; first < count; first += kBatch) {
    const auto n = static_cast<size_t>(std::min(kBatch, count - first));
    f(std::span<const int64_t>(order.data() + first, n));
  }
}

Tensor padded(const TokenLists& lists, std::span<const int64_t> which) {
  int64_t longest = 1;
  for (const int64_t i : which) longest = std::max(longest, lists.length(i));
  Tensor ids = full({static_cast<int64_t>(which.size()), longest}, int64_t{Vocabulary::pad}, i64);
  for (size_t b = 0; b < which.size(); ++b) {
    const auto from = lists[which[b]];
    std::copy(from.begin(), from.end(), ids.data<int64_t>() + static_cast<int64_t>(b) * longest);
  }
  return ids;
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

// The references of sequence i, in which what the model does not know equals nothing it can write.
std::vector<std::vector<int32_t>> known(const HeldOut& data, int64_t i) {
  auto references = data.references[static_cast<size_t>(i)];
  for (auto& ids : references) std::replace(ids.begin(), ids.end(), Vocabulary::unknown, -1);
  return references;
}

}  // namespace

std::vector<Translation> translate(const EncoderDecoder& model, const TokenLists& sources,
                                   const DecodeFlags& flags) {
  std::vector<Translation> all(static_cast<size_t>(sources.size()));
  by_length(sources, [&](std::span<const int64_t> which) {
    const Tensor source = padded(sources, which);
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
  const auto translations = translate(model, data.sources, flags);
  ErrorRate errors;
  CorpusBleu bleu;
  std::map<int64_t, std::pair<int64_t, int64_t>> by_length;  // right, and all
  for (int64_t i = 0; i < data.size(); ++i) {
    const std::vector<int64_t>& ids = translations[static_cast<size_t>(i)].ids;
    const Edits edits = errors.add({ids.begin(), ids.end()}, known(data, i));
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
