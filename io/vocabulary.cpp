#include "fovea/io/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "fovea/core/error.h"
#include "fovea/io/counted_lines.h"
#include "fovea/io/unexpected.h"

namespace fovea {
namespace {

constexpr std::string_view kVocabularyHead = "fovea vocabulary 1";

// Tokens by falling count, then bytes; the first `limit` of those that occur often enough.
std::vector<std::string> by_count(const TokenCounts& counts, const VocabularyOptions& o) {
  if (o.min_count < 1) {
    throw ValueError(fmt::format("Vocabulary: min_count is {}; at least 1 is needed", o.min_count));
  }
  if (o.max_size < 0 || (o.max_size > 0 && o.max_size < Vocabulary::marks)) {
    throw ValueError(fmt::format("Vocabulary: max_size is {}; it must hold the {} marks, or be 0",
                                 o.max_size, Vocabulary::marks));
  }
  std::vector<std::pair<int64_t, std::string_view>> list;
  for (const auto& [token, count] : counts) {
    if (count >= o.min_count) list.emplace_back(-count, token);
  }
  std::sort(list.begin(), list.end());
  if (o.max_size > 0) {
    list.resize(std::min(list.size(), static_cast<size_t>(o.max_size - Vocabulary::marks)));
  }
  std::vector<std::string> tokens;
  tokens.reserve(list.size());
  for (const auto& entry : list) tokens.emplace_back(entry.second);
  return tokens;
}

std::string escaped(std::string_view token) {
  std::string s;
  for (const char c : token) {
    if (c == '\n') {
      s += "\\n";
    } else if (c == '\\') {
      s += "\\\\";
    } else {
      s += c;
    }
  }
  return s;
}

std::string unescaped(std::string_view line, const std::string& where) {
  std::string s;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      s += line[i];
      continue;
    }
    const char next = ++i < line.size() ? line[i] : '\0';
    if (next != 'n' && next != '\\') {
      detail::unexpected(where, "'n' or '\\' after '\\'", detail::quoted(line.substr(i - 1)));
    }
    s += next == 'n' ? '\n' : '\\';
  }
  return s;
}

}  // namespace

void count_token(TokenCounts& counts, std::string_view token, int64_t times) {
  if (const auto at = counts.find(token); at != counts.end()) {
    at->second += times;
  } else {
    counts.emplace(token, times);
  }
}

Vocabulary::Vocabulary(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
  if (tokens_.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max() - marks)) {
    throw ValueError(fmt::format("Vocabulary: {} tokens are too many to number", tokens_.size()));
  }
  ids_.reserve(tokens_.size());
  int32_t id = marks;
  for (const std::string& token : tokens_) {
    if (!ids_.emplace(token, id++).second) {
      throw ValueError(fmt::format("Vocabulary: the token {} occurs twice", detail::quoted(token)));
    }
  }
}

Vocabulary::Vocabulary(const TokenCounts& counts, const VocabularyOptions& o)
    : Vocabulary(by_count(counts, o)) {}

int32_t Vocabulary::id(std::string_view token) const {
  const auto at = ids_.find(token);
  return at == ids_.end() ? unknown : at->second;
}

const std::string& Vocabulary::token(int64_t id) const {
  static const std::array<std::string, marks> kNames = {"<pad>", "<unk>", "<s>", "</s>"};
  if (id < 0 || id >= size()) {
    throw IndexError(fmt::format("Vocabulary: id {} is outside [0, {})", id, size()));
  }
  const auto i = static_cast<size_t>(id);
  return id < marks ? kNames[i] : tokens_[i - marks];
}

std::vector<int32_t> Vocabulary::encode(const std::vector<std::string>& tokens) const {
  std::vector<int32_t> ids;
  ids.reserve(tokens.size());
  for (const std::string& token : tokens) ids.push_back(id(token));
  return ids;
}

void Vocabulary::operator()(const std::vector<std::string_view>& tokens,
                            std::vector<int32_t>& ids) const {
  for (const std::string_view token : tokens) ids.push_back(id(token));
}

template <class Id>
std::vector<std::string> Vocabulary::decoded(std::span<const Id> ids) const {
  std::vector<std::string> tokens;
  for (const Id id : ids) {
    if (id == end) break;
    if (id != pad && id != begin) tokens.push_back(token(id));
  }
  return tokens;
}

std::vector<std::string> Vocabulary::decode(std::span<const int32_t> ids) const {
  return decoded(ids);
}
std::vector<std::string> Vocabulary::decode(std::span<const int64_t> ids) const {
  return decoded(ids);
}

std::string Vocabulary::text() const {
  std::string s = fmt::format("{} {}\n", kVocabularyHead, tokens_.size());
  for (const std::string& token : tokens_) s += escaped(token) + "\n";
  return s;
}

Vocabulary Vocabulary::from_text(std::string_view text) {
  const std::vector<std::string_view> lines =
      detail::counted_lines(text, "vocabulary", kVocabularyHead);
  std::vector<std::string> tokens;
  for (size_t i = 0; i < lines.size(); ++i) {
    tokens.push_back(unescaped(lines[i], fmt::format("vocabulary line {}", i + 2)));
  }
  std::vector<std::string_view> sorted(tokens.begin(), tokens.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    detail::unexpected("vocabulary", "distinct tokens", detail::quoted(*twice) + " twice");
  }
  return Vocabulary(std::move(tokens));
}

}  // namespace fovea
