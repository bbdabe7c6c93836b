// Tokens as numbers: words, characters, phones or pieces of words.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fovea {

/// Lets a map with keys of std::string be asked with a std::string_view.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
};
template <class T>
using TextMap = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

/// How often each token occurs.
using TokenCounts = TextMap<int64_t>;
void count_token(TokenCounts& counts, std::string_view token, int64_t times = 1);

struct VocabularyOptions {
  int64_t min_count = 1;  ///< rarer tokens are left out
  int64_t max_size = 0;   ///< with the four marks; 0: no limit
};

/// The marks, then the tokens by falling count, equal counts in the order of their bytes: the same
/// counts give the same numbers. A token spelt like a mark, "<unk>", is a token like any other.
class Vocabulary {
 public:
  static constexpr int32_t pad = 0;      ///< after the end of a short sequence
  static constexpr int32_t unknown = 1;  ///< stands for every token that is not in the vocabulary
  static constexpr int32_t begin = 2;    ///< what a decoder reads before it has written anything
  static constexpr int32_t end = 3;      ///< what it writes last
  static constexpr int32_t marks = 4;    ///< how many these are: the id of the first token

  /// The marks alone.
  Vocabulary() : Vocabulary(std::vector<std::string>{}) {}
  /// These tokens, in this order, after the marks. ValueError when one occurs twice.
  explicit Vocabulary(std::vector<std::string> tokens);
  /// ValueError unless min_count >= 1 and max_size is 0 or at least `marks`.
  explicit Vocabulary(const TokenCounts& counts, const VocabularyOptions& o = {});

  int64_t size() const { return marks + static_cast<int64_t>(tokens_.size()); }
  bool contains(std::string_view token) const { return ids_.find(token) != ids_.end(); }
  int32_t id(std::string_view token) const;  ///< `unknown` when it is not contained
  /// "<pad>", "<unk>", "<s>" and "</s>" for the marks. IndexError outside [0, size()).
  const std::string& token(int64_t id) const;

  std::vector<int32_t> encode(const std::vector<std::string>& tokens) const;
  /// Appends the ids of `tokens`: what encode_pairs (io/pairs.h) takes.
  void operator()(const std::vector<std::string_view>& tokens, std::vector<int32_t>& ids) const;
  /// Up to the first `end`, which like `begin` and `pad` is left out. IndexError outside
  /// [0, size()).
  std::vector<std::string> decode(std::span<const int32_t> ids) const;
  std::vector<std::string> decode(std::span<const int64_t> ids) const;

  /// All of it as UTF-8 (when the tokens are), for the metadata of a checkpoint: a line a token,
  /// newlines and backslashes escaped.
  std::string text() const;
  /// IoError naming line, what was expected and found, when text() did not write it.
  static Vocabulary from_text(std::string_view text);

 private:
  template <class Id>
  std::vector<std::string> decoded(std::span<const Id> ids) const;

  std::vector<std::string> tokens_;  // without the marks
  TextMap<int32_t> ids_;
};

}  // namespace fovea
