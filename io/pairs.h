// Sentence pairs in tab-separated files, as Tatoeba and most parallel corpora come.
//
//     const PairOptions o{.source_column = 2, .target_column = 1};
//     const PairCounts counts = count_pairs("deu-eng.tsv", o);
//     const Vocabulary from(counts.source, {.min_count = 2}), to(counts.target, {.min_count = 2});
//     const PairCorpus corpus = encode_pairs("deu-eng.tsv", o, std::ref(from), std::ref(to));
//
// The text is never held: both functions read the file a line at a time, and the corpus holds ids.
// With subwords, counts.source trains a Bpe, its pieces make the Vocabulary, and a BpeEncoder
// encodes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/io/line_reader.h"
#include "fovea/io/token_lists.h"
#include "fovea/io/vocabulary.h"

namespace fovea {

enum class TokenUnit {
  words,       ///< what stands between spaces
  characters,  ///< every code point, spaces too
};

/// The tokens of `text`, which must be UTF-8, as pieces of it: none where all is spaces.
void tokenize(std::string_view text, TokenUnit unit, std::vector<std::string_view>& out);

struct PairOptions {
  int64_t source_column = 1;  ///< from 1, as `cut -f` counts; may be the target's
  int64_t target_column = 2;
  TokenUnit source_unit = TokenUnit::words;
  TokenUnit target_unit = TokenUnit::words;
  /// A pair with more tokens on either side is left out, also when it is only its encoding (in
  /// subwords) that is longer. 0: no limit.
  int64_t max_length = 0;
  int64_t max_pairs = 0;  ///< stops after so many. 0: reads to the end
};

/// What a pass over a file found. Line numbers count from 1; 0 when there was none.
struct PairReport {
  int64_t pairs = 0;  ///< that were kept
  int64_t empty = 0;  ///< left out, for one side has nothing but spaces
  int64_t first_empty_line = 0;
  int64_t too_long = 0;  ///< left out for max_length
  int64_t first_too_long_line = 0;

  /// "1000 pairs; 2 without text on one side, the first in line 17": nothing of what is 0.
  std::string str() const;
};

/// One pass over a file. Columns beyond the two, and lines after max_pairs, are not looked at, but
/// the whole line must be UTF-8. A blank line counts as empty. IoError, naming file, line and byte,
/// for what is not UTF-8; naming file and line for too few columns. See LineReader for line ends,
/// byte order marks and gzip.
class PairReader {
 public:
  /// ValueError for columns below 1 and negative limits.
  PairReader(const std::string& path, const PairOptions& o);

  /// Goes to the next pair that is kept. At the end false, or an IoError when none was kept.
  bool next();
  /// The tokens of this pair, as pieces of the line: valid until next().
  const std::vector<std::string_view>& source() const { return source_; }
  const std::vector<std::string_view>& target() const { return target_; }
  /// What has been read so far.
  const PairReport& report() const { return report_; }
  /// Counts the present pair as too long after all.
  void reject();
  int64_t memory() const;  ///< bytes held for reading

 private:
  LineReader lines_;
  PairOptions options_;
  PairReport report_;
  std::vector<std::string_view> source_, target_;
};

struct PairCounts {
  TokenCounts source, target;
  PairReport report;
};
/// How often each token occurs on either side.
PairCounts count_pairs(const std::string& path, const PairOptions& o = {});

/// Appends the ids of tokens: a Vocabulary, a BpeEncoder (behind std::ref, or copied), or a lambda.
using TokenEncoder =
    std::function<void(const std::vector<std::string_view>& tokens, std::vector<int32_t>& ids)>;

/// The pairs as ids. Reads the file twice, once to know how large the arrays are, so that their
/// memory is exactly that of the corpus. `report` receives what was left out.
PairCorpus encode_pairs(const std::string& path, const PairOptions& o, const TokenEncoder& source,
                        const TokenEncoder& target, PairReport* report = nullptr);

}  // namespace fovea
