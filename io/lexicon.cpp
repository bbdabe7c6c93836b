#include "fovea/io/lexicon.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "fovea/core/error.h"
#include "fovea/io/characters.h"
#include "fovea/io/line_reader.h"
#include "fovea/io/unexpected.h"
#include "fovea/io/vocabulary.h"

namespace fovea {
namespace {

using Phones = std::vector<std::string>;

bool is_vowel(std::string_view phone) {
  constexpr std::array<std::string_view, 17> kVowels = {"aa", "ae", "ah", "ao",  "aw", "ax",
                                                        "ay", "eh", "er", "axr", "ey", "ih",
                                                        "iy", "ow", "oy", "uh",  "uw"};
  return std::find(kVowels.begin(), kVowels.end(), phone) != kVowels.end();
}

// Reads one entry from left to right.
class Entry {
 public:
  explicit Entry(const LineReader& lines) : lines_(lines), rest_(lines.line()) {}

  std::pair<std::string, Phones> read(const LexiconOptions& o) {
    take('(');
    std::string word = quoted_word();
    symbol("a part of speech");
    take('(');
    Phones phones;
    do {
      if (o.syllables && !phones.empty()) phones.emplace_back(kSyllableMark);
      syllable(o.stress, phones);
    } while (!next_is(')'));
    take(')');
    take(')');
    if (!next_is('\0')) fail("the end of the line");
    return {std::move(word), std::move(phones)};
  }

 private:
  // ((b ae n) 1): the number says how the syllable is stressed; its vowel carries it. A few
  // syllables have no vowel ("dvorak" begins with ((d) 0)), and then nothing does.
  void syllable(bool stress, Phones& phones) {
    take('(');
    take('(');
    const size_t first = phones.size();
    do {
      phones.emplace_back(symbol("a phone"));
    } while (!next_is(')'));
    take(')');
    if (!next_is('0') && !next_is('1') && !next_is('2')) fail("a stress of 0, 1 or 2");
    const std::string_view mark = symbol("a stress");
    if (mark.size() != 1) fail("a stress of one digit before this");
    take(')');
    if (!stress) return;
    const auto vowel =
        std::find_if(phones.begin() + static_cast<std::ptrdiff_t>(first), phones.end(), is_vowel);
    if (vowel != phones.end()) *vowel += mark;
  }

  std::string quoted_word() {
    take('"');
    std::string word;
    while (!rest_.empty() && rest_[0] != '"') {
      if (rest_[0] == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      word += rest_[0];
      rest_.remove_prefix(1);
    }
    if (word.empty()) fail("a word");
    if (rest_.empty()) fail("'\"' after the word");
    rest_.remove_prefix(1);
    return word;
  }

  std::string_view symbol(std::string_view what) {
    skip_spaces();
    const std::string_view s = rest_.substr(0, rest_.find_first_of(" \t()\""));
    if (s.empty()) fail(what);
    rest_.remove_prefix(s.size());
    return s;
  }
  void take(char c) {
    if (!next_is(c)) fail(fmt::format("'{}'", c));
    rest_.remove_prefix(1);
  }
  // '\0' stands for the end of the line.
  bool next_is(char c) {
    skip_spaces();
    return rest_.empty() ? c == '\0' : rest_[0] == c;
  }
  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
  }
  [[noreturn]] void fail(std::string_view expected) const {
    detail::unexpected(lines_.where(), expected,
                       rest_.empty() ? "the end of the line" : detail::quoted(rest_));
  }

  const LineReader& lines_;
  std::string_view rest_;
};

}  // namespace

std::vector<LexiconEntry> read_lexicon(const std::string& path, const LexiconOptions& o) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw IoError(
        fmt::format("read_lexicon: there is no '{}'; the CMU pronouncing dictionary "
                    "comes with Debian's package festlex-cmu",
                    path));
  }
  LineReader lines(path);
  if (!lines.next() || lines.line() != "MNCL") {
    const std::string_view found = lines.line();
    detail::unexpected(fmt::format("'{}' line 1", path),
                       "MNCL, the head of a lexicon compiled for Festival",
                       found.empty() ? "nothing" : detail::quoted(found));
  }
  std::vector<LexiconEntry> list;
  TextMap<size_t> places;
  while (lines.next()) {
    if (lines.line().empty() || lines.line()[0] == ';') continue;
    code_points(lines.line(), lines.where());
    auto [word, phones] = Entry(lines).read(o);
    const auto [at, is_new] = places.try_emplace(word, list.size());
    if (is_new) list.push_back({std::move(word), {}});
    auto& known = list[at->second].pronunciations;
    if (std::find(known.begin(), known.end(), phones) == known.end()) {
      known.push_back(std::move(phones));
    }
  }
  if (list.empty()) detail::unexpected(fmt::format("'{}'", path), "entries after MNCL", "none");
  return list;
}

}  // namespace fovea
