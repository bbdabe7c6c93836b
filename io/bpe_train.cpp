// Learning merges. After a merge only the pairs beside it have new counts: these are kept up to
// date, with the words that hold each pair, instead of being counted again.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fovea/core/error.h"
#include "fovea/io/bpe.h"
#include "fovea/io/bpe_rule.h"
#include "fovea/io/characters.h"
#include "fovea/io/unexpected.h"
#include "fovea/io/utf8.h"

namespace fovea {
namespace {

using PairKey = uint64_t;  // left symbol << 32 | right symbol
PairKey key_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(left) << 32 | static_cast<uint64_t>(right);
}
int32_t left_of(PairKey k) { return static_cast<int32_t>(k >> 32); }
int32_t right_of(PairKey k) { return static_cast<int32_t>(k & 0xffffffffu); }

class BpeTrainer {
 public:
  explicit BpeTrainer(const TokenCounts& words);
  /// Merges the best pair and returns it; two empty texts when none occurs `least` times.
  std::pair<std::string, std::string> step(int64_t least);

 private:
  struct Word {
    std::vector<int32_t> symbols;
    int64_t count;
  };
  struct Pair {
    int64_t count = 0;
    std::vector<size_t> words;  // that held it once, some perhaps twice
  };
  // A pair waits with a count that it had; it may have fewer now, never more.
  struct Waiting {
    int64_t count;
    PairKey pair;
  };

  int32_t symbol(std::string_view text);
  void change(int32_t left, int32_t right, size_t word, int64_t by);
  void merge(size_t word, PairKey pair, int32_t joined);
  void wait(PairKey pair, int64_t count) {
    waiting_.push_back({count, pair});
    std::push_heap(waiting_.begin(), waiting_.end(), later_);
  }

  std::vector<std::string> texts_;  // of the symbols
  TextMap<int32_t> symbols_;
  std::vector<Word> words_;
  std::unordered_map<PairKey, Pair> pairs_;
  std::vector<PairKey> grown_;  // pairs whose count has risen

  struct Later {
    const std::vector<std::string>* texts;
    bool operator()(const Waiting& a, const Waiting& b) const {
      if (a.count != b.count) return a.count < b.count;
      const auto text = [this](int32_t s) -> const std::string& {
        return (*texts)[static_cast<size_t>(s)];
      };
      const int left = text(left_of(a.pair)).compare(text(left_of(b.pair)));
      return left != 0 ? left > 0 : text(right_of(a.pair)) > text(right_of(b.pair));
    }
  };
  Later later_{&texts_};
  std::vector<Waiting> waiting_;  // a heap
};

BpeTrainer::BpeTrainer(const TokenCounts& words) {
  std::vector<std::string_view> characters;
  for (const auto& [text, count] : words) {
    if (text.empty() || text.find_first_of(" \n") != text.npos) {
      throw ValueError(
          fmt::format("Bpe: {} is not a word: it is empty or holds a space", detail::quoted(text)));
    }
    code_points(text, "Bpe: a word");
    characters.clear();
    detail::append_characters(text, characters);
    Word word{{}, count};
    for (size_t i = 0; i + 1 < characters.size(); ++i) {
      word.symbols.push_back(symbol(characters[i]));
    }
    word.symbols.push_back(symbol(std::string(characters.back()) + std::string(Bpe::kEnd)));
    words_.push_back(std::move(word));
  }
  for (size_t w = 0; w < words_.size(); ++w) {
    const std::vector<int32_t>& s = words_[w].symbols;
    for (size_t i = 0; i + 1 < s.size(); ++i) change(s[i], s[i + 1], w, words_[w].count);
  }
  grown_.clear();
  for (const auto& [pair, held] : pairs_) wait(pair, held.count);
}

int32_t BpeTrainer::symbol(std::string_view text) {
  if (const auto at = symbols_.find(text); at != symbols_.end()) return at->second;
  const auto id = static_cast<int32_t>(texts_.size());
  texts_.emplace_back(text);
  symbols_.emplace(text, id);
  return id;
}

void BpeTrainer::change(int32_t left, int32_t right, size_t word, int64_t by) {
  const PairKey key = key_of(left, right);
  Pair& pair = pairs_[key];
  pair.count += by;
  if (by < 0) return;
  grown_.push_back(key);
  if (pair.words.empty() || pair.words.back() != word) pair.words.push_back(word);
}

void BpeTrainer::merge(size_t w, PairKey pair, int32_t joined) {
  const int32_t left = left_of(pair), right = right_of(pair);
  const int64_t n = words_[w].count;
  std::vector<int32_t>& s = words_[w].symbols;
  size_t kept = 0;
  for (size_t i = 0; i < s.size(); ++i, ++kept) {
    if (s[i] != left || i + 1 == s.size() || s[i + 1] != right) {
      s[kept] = s[i];
      continue;
    }
    change(left, right, w, -n);
    if (kept > 0) {
      change(s[kept - 1], left, w, -n);
      change(s[kept - 1], joined, w, n);
    }
    if (i + 2 < s.size()) {
      change(right, s[i + 2], w, -n);
      change(joined, s[i + 2], w, n);
    }
    s[kept] = joined;
    ++i;
  }
  s.resize(kept);
}

std::pair<std::string, std::string> BpeTrainer::step(int64_t least) {
  while (!waiting_.empty()) {
    const Waiting best = waiting_.front();
    std::pop_heap(waiting_.begin(), waiting_.end(), later_);
    waiting_.pop_back();
    Pair& pair = pairs_[best.pair];
    if (best.count != pair.count) {
      if (pair.count >= least) wait(best.pair, pair.count);
      continue;
    }
    if (pair.count < least) break;
    const std::string left = texts_[static_cast<size_t>(left_of(best.pair))];
    const std::string right = texts_[static_cast<size_t>(right_of(best.pair))];
    if (!detail::may_merge(left, right)) continue;
    const int32_t joined = symbol(left + right);
    // merge() moves what the map holds: take the words out first.
    std::vector<size_t> words;
    std::swap(words, pair.words);
    grown_.clear();
    for (const size_t w : words) merge(w, best.pair, joined);
    std::sort(grown_.begin(), grown_.end());
    grown_.erase(std::unique(grown_.begin(), grown_.end()), grown_.end());
    for (const PairKey key : grown_) wait(key, pairs_[key].count);
    return {left, right};
  }
  return {};
}

}  // namespace

Bpe Bpe::train(const TokenCounts& words, const BpeOptions& o) {
  if (o.merges < 0 || o.min_count < 1) {
    throw ValueError(
        fmt::format("Bpe: merges is {} and min_count is {}; need merges >= 0 and min_count >= 1",
                    o.merges, o.min_count));
  }
  BpeTrainer trainer(words);
  std::vector<std::pair<std::string, std::string>> merges;
  TextMap<bool> learnt;
  while (static_cast<int64_t>(merges.size()) < o.merges) {
    auto pair = trainer.step(o.min_count);
    if (pair.first.empty()) break;
    // "a" "bc" and "ab" "c" give one piece, so a pair may come up again after its merge: it is
    // merged then as split() would, but needs no second line.
    if (learnt.emplace(pair.first + " " + pair.second, true).second) {
      merges.push_back(std::move(pair));
    }
  }
  return Bpe(std::move(merges));
}

}  // namespace fovea
