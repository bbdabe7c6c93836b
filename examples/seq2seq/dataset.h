// What a task gives to learn from, and to be tested on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "examples/seq2seq/config.h"
#include "fovea/io/token_lists.h"
#include "fovea/io/vocabulary.h"

namespace fovea::seq2seq {

/// Sources that are never trained on, and all that is right for each.
struct HeldOut {
  TokenLists sources;
  std::vector<std::vector<std::vector<int32_t>>> references;
  /// Of tasks that copy: from where in the source each token of the first reference was copied, or
  /// -1 where it was not.
  std::vector<std::vector<int64_t>> copied;
  /// Of pairs: the one reference as it stands in the file, where words are that no model knows.
  std::vector<std::string> texts;

  int64_t size() const { return sources.size(); }
  void add(std::span<const int32_t> source, std::vector<std::vector<int32_t>> right,
           std::vector<int64_t> copied_from = {}) {
    sources.add(source);
    references.push_back(std::move(right));
    copied.push_back(std::move(copied_from));
  }
  /// At most `most` of them, evenly spread: files are often sorted, by letter or by length.
  HeldOut spread(int64_t most) const;
};

struct Dataset {
  Vocabulary source, target;
  PairCorpus train;
  HeldOut valid, test;
  std::string source_bpe, target_bpe;  ///< of pairs in subwords: Bpe::text()
  std::string report;                  ///< for the user: what it consists of
};

/// A source in tokens, and what is right for it in tokens.
struct Sample {
  std::vector<std::string> source;
  std::vector<std::vector<std::string>> targets;
  std::vector<int64_t> copied = {};  ///< see HeldOut
};

enum class Part { train, valid, test };
/// By a hash of the source: 90, 5 and 5 in a hundred. The same source is in the same part in every
/// run, on every machine, so that nothing that was trained on is ever tested.
Part part_of(std::string_view source);

/// Of lengths, ids and texts of all parts: equal for the same data alone.
uint64_t fingerprint(const Dataset& d);

/// Vocabularies from those samples that train.
Dataset make_dataset(const std::vector<Sample>& samples);

/// The data of c.task. IoError when files are missing or wrong, or a part would be empty.
Dataset load_dataset(const Config& c);
// Each kind by itself.
Dataset load_phonemes(const Config& c);
Dataset load_dates(const Config& c);
Dataset load_reversed(const Config& c);
Dataset load_pairs(const Config& c);

/// A word of the task phonemes: its ASCII letters in lower case.
std::string lower(std::string word);

/// What of the test part c.test_limit leaves.
HeldOut tested(const Config& c, const Dataset& d);

/// What a model was trained on becomes part of its configuration: vocabularies, the longest source,
/// a fingerprint.
void remember(Config& c, const Dataset& d);

/// The tokens of a source as the user types it.
std::vector<std::string> split_source(const Config& c, const std::string& text);
/// Tokens as people read them.
std::string join_source(const Config& c, const std::vector<std::string>& tokens);
std::string join_target(const Config& c, const std::vector<std::string>& tokens);

}  // namespace fovea::seq2seq
