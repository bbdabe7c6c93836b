// Words as pieces learnt from how often they occur, so that a few thousand of them spell any word.
//
// Source: Sennrich, Haddow, Birch 2016, "Neural machine translation of rare words with subword
// units", algorithm 1 (byte-pair encoding).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/io/vocabulary.h"

namespace fovea {

struct BpeOptions {
  int64_t merges = 8000;  ///< fewer when no pair is left that occurs often enough
  int64_t min_count = 2;  ///< of a pair, to be merged
};

/// A list of merges. A word begins as its code points, the last with the mark kEnd behind it; then
/// the pair of neighbours that was learnt first is joined wherever it stands, until none is left.
class Bpe {
 public:
  static constexpr std::string_view kEnd = "</w>";

  /// No merges: words become characters.
  Bpe() = default;
  /// Learns from words and how often each occurs: the most frequent pair is merged, of equally
  /// frequent ones that whose left, then right, piece comes first in the order of bytes, so that
  /// the same counts give the same merges. O(n log n) in the letters of the distinct words:
  /// seconds for 100,000 words and 8,000 merges. ValueError for options out of range and for a
  /// word that is empty or holds a space or a newline; IoError when one is not UTF-8.
  static Bpe train(const TokenCounts& words, const BpeOptions& o = {});

  int64_t merges() const { return static_cast<int64_t>(pairs_.size()); }

  /// "lowest" -> {"low", "est</w>"}. Nothing for an empty word; IoError when it is not UTF-8.
  std::vector<std::string> split(std::string_view word) const;
  /// What split() made: the text of several words, a space between them. Pieces after the last
  /// mark, of a word that was cut off, are kept.
  static std::string join(const std::vector<std::string>& pieces);
  /// How often each piece occurs when these words are split: for a Vocabulary.
  TokenCounts count_pieces(const TokenCounts& words) const;

  /// A line for each merge, for the metadata of a checkpoint or write_file_atomically(io/file.h).
  std::string text() const;
  /// IoError naming line, what was expected and found, when text() did not write it.
  static Bpe from_text(std::string_view text);

 private:
  explicit Bpe(std::vector<std::pair<std::string, std::string>> pairs);

  std::vector<std::pair<std::string, std::string>>
      pairs_;               // in the order in which they were learnt
  TextMap<int64_t> ranks_;  // "left right" -> place in pairs_
};

/// Splits words and looks up their pieces, remembering what it has split: what encode_pairs
/// (io/pairs.h) takes. Holds references to both; not for two threads at once.
class BpeEncoder {
 public:
  BpeEncoder(const Bpe& bpe, const Vocabulary& pieces) : bpe_(&bpe), pieces_(&pieces) {}
  /// Appends the ids of all pieces of `words`.
  void operator()(const std::vector<std::string_view>& words, std::vector<int32_t>& ids);

 private:
  const Bpe* bpe_;
  const Vocabulary* pieces_;
  TextMap<std::vector<int32_t>> known_;  // emptied when it has grown too large
};

}  // namespace fovea
