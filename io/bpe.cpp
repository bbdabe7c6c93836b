#include "fovea/io/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fovea/core/error.h"
#include "fovea/io/bpe_rule.h"
#include "fovea/io/characters.h"
#include "fovea/io/counted_lines.h"
#include "fovea/io/unexpected.h"
#include "fovea/io/utf8.h"

namespace fovea {
namespace {

constexpr std::string_view kBpeHead = "fovea bpe 1";
constexpr int64_t kNoMerge = std::numeric_limits<int64_t>::max();

// A piece of the word, which ends where the next begins.
struct Piece {
  size_t begin;
  int64_t rank;  // of the merge with the next piece
};

}  // namespace

Bpe::Bpe(std::vector<std::pair<std::string, std::string>> pairs) : pairs_(std::move(pairs)) {
  ranks_.reserve(pairs_.size());
  int64_t rank = 0;
  for (const auto& [left, right] : pairs_) ranks_.emplace(left + " " + right, rank++);
}

std::vector<std::string> Bpe::split(std::string_view word) const {
  code_points(word, "Bpe: the word");
  if (word.empty()) return {};
  std::vector<std::string_view> characters;
  detail::append_characters(word, characters);

  const std::string text = std::string(word) + std::string(kEnd);
  std::vector<Piece> pieces;
  size_t at = 0;
  for (const std::string_view c : characters) {
    pieces.push_back({at, kNoMerge});
    at += c.size();
  }
  const auto piece = [&](size_t i) {
    const size_t end = i + 1 < pieces.size() ? pieces[i + 1].begin : text.size();
    return std::string_view(text).substr(pieces[i].begin, end - pieces[i].begin);
  };
  std::string key;
  const auto rank = [&](size_t i) {
    if (i + 1 >= pieces.size()) return kNoMerge;
    key.assign(piece(i)).append(" ").append(piece(i + 1));
    const auto found = ranks_.find(key);
    return found == ranks_.end() ? kNoMerge : found->second;
  };
  for (size_t i = 0; i < pieces.size(); ++i) pieces[i].rank = rank(i);

  std::vector<size_t> changed;  // the joined pieces, by their new places
  while (true) {
    int64_t least = kNoMerge;
    for (const Piece& p : pieces) least = std::min(least, p.rank);
    if (least == kNoMerge) break;
    changed.clear();
    size_t kept = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      pieces[kept] = pieces[i];
      if (pieces[i].rank == least) {
        changed.push_back(kept);
        ++i;  // what follows is part of it now, and cannot be the left of another
      }
      ++kept;
    }
    pieces.resize(kept);
    for (const size_t i : changed) {
      pieces[i].rank = rank(i);
      if (i > 0) pieces[i - 1].rank = rank(i - 1);
    }
  }
  std::vector<std::string> result;
  result.reserve(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) result.emplace_back(piece(i));
  return result;
}

std::string Bpe::join(const std::vector<std::string>& pieces) {
  std::string text;
  bool word_ended = false;
  for (const std::string_view piece : pieces) {
    if (word_ended) text += ' ';
    word_ended = detail::ends_word(piece);
    text += piece.substr(0, piece.size() - (word_ended ? kEnd.size() : 0));
  }
  return text;
}

TokenCounts Bpe::count_pieces(const TokenCounts& words) const {
  TokenCounts counts;
  for (const auto& [word, count] : words) {
    for (const std::string& piece : split(word)) count_token(counts, piece, count);
  }
  return counts;
}

std::string Bpe::text() const {
  std::string s = fmt::format("{} {}\n", kBpeHead, pairs_.size());
  for (const auto& [left, right] : pairs_) s += left + " " + right + "\n";
  return s;
}

Bpe Bpe::from_text(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string_view line : detail::counted_lines(text, "bpe", kBpeHead)) {
    const size_t space = line.find(' ');
    const std::string_view left = line.substr(0, space);
    const std::string_view right = space == line.npos ? "" : line.substr(space + 1);
    if (left.empty() || right.empty() || right.find(' ') != right.npos ||
        !detail::may_merge(left, right)) {
      detail::unexpected(fmt::format("bpe line {}", pairs.size() + 2),
                         "two pieces and a space between them, only the second the end of a word",
                         detail::quoted(line));
    }
    pairs.emplace_back(left, right);
  }
  Bpe bpe(std::move(pairs));
  if (bpe.ranks_.size() != bpe.pairs_.size()) {
    detail::unexpected("bpe", "distinct merges", "one twice");
  }
  return bpe;
}

void BpeEncoder::operator()(const std::vector<std::string_view>& words, std::vector<int32_t>& ids) {
  constexpr size_t kWords = size_t{1} << 18, kLetters = 64;
  for (const std::string_view word : words) {
    if (const auto at = known_.find(word); at != known_.end()) {
      ids.insert(ids.end(), at->second.begin(), at->second.end());
      continue;
    }
    std::vector<int32_t> pieces = pieces_->encode(bpe_->split(word));
    ids.insert(ids.end(), pieces.begin(), pieces.end());
    if (word.size() > kLetters) continue;
    if (known_.size() >= kWords) known_.clear();
    known_.emplace(word, std::move(pieces));
  }
}

}  // namespace fovea
