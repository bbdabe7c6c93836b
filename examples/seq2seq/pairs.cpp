// Sentence pairs of a file: two of its columns. The file is read a line at a time; what stays in
// memory are the numbers of its tokens.
#include "fovea/io/pairs.h"

#include <fmt/format.h>

#include <filesystem>

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
};

// Calls use(reader, source ids, target ids) for every pair whose encoding is not too long either.
template <class Use>
std::string for_each_encoded(const Config& c, const Side& source, const Side& target, Use use) {
  PairReader r(c.file, pair_options(c));
  std::vector<int32_t> x, y;
  while (r.next()) {
    x.clear();
    y.clear();
    source.encoder(r.source(), x);
    target.encoder(r.target(), y);
    if (c.max_length > 0 && static_cast<int64_t>(std::max(x.size(), y.size())) > c.max_length) {
      r.reject();
    } else {
      use(r, x, y);
    }
  }
  return r.report().str();
}

}  // namespace

Dataset load_pairs(const Config& c) {
  std::error_code error;
  if (std::filesystem::exists(c.file, error) && !std::filesystem::is_regular_file(c.file, error)) {
    throw IoError(fmt::format("'{}' is not a regular file: pairs are read more than once", c.file));
  }
  Side source, target;
  {
    PairReader r(c.file, pair_options(c));
    while (r.next()) {
      if (part_of_pair(r) != Part::train) continue;
      for (const auto t : r.source()) count_token(source.words, t);
      for (const auto t : r.target()) count_token(target.words, t);
    }
  }
  source.learn(c);
  target.learn(c);
  Dataset d;
  int64_t pairs = 0, from = 0, to = 0;  // that train, and their tokens: the memory of the corpus
  for_each_encoded(c, source, target, [&](const PairReader& r, const auto& x, const auto& y) {
    if (part_of_pair(r) != Part::train) return;
    ++pairs;
    from += static_cast<int64_t>(x.size());
    to += static_cast<int64_t>(y.size());
  });
  d.train.source.reserve(pairs, from);
  d.train.target.reserve(pairs, to);
  const char* separator = c.unit == "characters" ? "" : " ";
  d.report =
      for_each_encoded(c, source, target, [&](const PairReader& r, const auto& x, const auto& y) {
        const Part part = part_of_pair(r);
        if (part == Part::train) return d.train.add(x, y);
        HeldOut& held_out = part == Part::valid ? d.valid : d.test;
        held_out.add(x, {y});
        held_out.texts.push_back(fmt::format("{}", fmt::join(r.target(), separator)));
      });
  d.source_bpe = source.bpe.text();
  d.target_bpe = target.bpe.text();
  d.source = std::move(source.vocabulary);
  d.target = std::move(target.vocabulary);
  return d;
}

}  // namespace fovea::seq2seq
