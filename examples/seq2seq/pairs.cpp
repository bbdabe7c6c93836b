// Sentence pairs of a file: two of its columns. The file is read a line at a time; what stays in
// memory are the numbers of its tokens.
#include "fovea/io/pairs.h"

#include <fmt/format.h>

#include "examples/seq2seq/dataset.h"
#include "fovea/core/error.h"
#include "fovea/io/bpe.h"

namespace fovea::seq2seq {
namespace {

PairOptions pair_options(const Config& c) {
  const TokenUnit unit = c.unit == "characters" ? TokenUnit::characters : TokenUnit::words;
  return {.source_column = c.source_column,
          .target_column = c.target_column,
          .source_unit = unit,
          .target_unit = unit,
          .max_length = c.max_length,
          .max_pairs = c.max_pairs};
}

Part part_of_pair(const PairReader& r) {
  return part_of(fmt::format("{}", fmt::join(r.source(), "\t")));
}

// One side: how its tokens become numbers.
struct Side {
  TokenCounts words;
  Bpe bpe;
  Vocabulary vocabulary;
  TokenEncoder encoder;

  void learn(const Config& c) {
    const VocabularyOptions o{.min_count = c.min_count, .max_size = c.max_vocabulary};
    if (c.unit == "bpe") {
      bpe = Bpe::train(words, {.merges = c.merges});
      vocabulary = Vocabulary(bpe.count_pieces(words), o);
      encoder = BpeEncoder(bpe, vocabulary);
    } else {
      vocabulary = Vocabulary(words, o);
      encoder = std::cref(vocabulary);
    }
    words.clear();
  }
  std::vector<int32_t> encode(const std::vector<std::string_view>& tokens) const {
    std::vector<int32_t> ids;
    encoder(tokens, ids);
    return ids;
  }
};

}  // namespace

Dataset load_pairs(const Config& c) {
  Side source, target;
  int64_t pairs = 0, from = 0, to = 0;  // that train, and their tokens
  {
    PairReader r(c.file, pair_options(c));
    while (r.next()) {
      if (part_of_pair(r) != Part::train) continue;
      for (const auto t : r.source()) count_token(source.words, t);
      for (const auto t : r.target()) count_token(target.words, t);
      ++pairs;
      from += static_cast<int64_t>(r.source().size());
      to += static_cast<int64_t>(r.target().size());
    }
  }
  source.learn(c);
  target.learn(c);
  Dataset d;
  if (c.unit != "bpe") {  // the memory of the corpus, and no more
    d.train.source.reserve(pairs, from);
    d.train.target.reserve(pairs, to);
  }
  const char* separator = c.unit == "characters" ? "" : " ";
  PairReader r(c.file, pair_options(c));
  while (r.next()) {
    const std::vector<int32_t> x = source.encode(r.source()), y = target.encode(r.target());
    if (c.max_length > 0 && static_cast<int64_t>(std::max(x.size(), y.size())) > c.max_length) {
      r.reject();
      continue;
    }
    const Part part = part_of_pair(r);
    if (part == Part::train) {
      d.train.add(x, y);
    } else {
      HeldOut& held_out = part == Part::valid ? d.valid : d.test;
      held_out.add(x, {y});
      held_out.texts.push_back(fmt::format("{}", fmt::join(r.target(), separator)));
    }
  }
  d.report = r.report().str();
  d.source_bpe = source.bpe.text();
  d.target_bpe = target.bpe.text();
  d.source = std::move(source.vocabulary);
  d.target = std::move(target.vocabulary);
  return d;
}

}  // namespace fovea::seq2seq
