#include "fovea/io/bpe.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "tests/io/temp_dir.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using Tokens = std::vector<std::string>;

// The words of the paper's listing.
const TokenCounts kPaper = {{"low", 5}, {"lower", 2}, {"newest", 6}, {"widest", 3}};

TEST(Bpe, LearnsMerges) {
  const Bpe bpe = Bpe::train(kPaper, {.merges = 10});
  // "e s" and "s t</w>" occur 9 times each: the first in the order of bytes.
  EXPECT_EQ(
      bpe.text(),
      "fovea bpe 1 10\ne s\nes t</w>\nl o\ne w\new est</w>\nn ewest</w>\nlo w</w>\nd est</w>\n"
      "i dest</w>\nw idest</w>\n");
  EXPECT_EQ(bpe.split("lowest"), Tokens({"lo", "w", "est</w>"}));
  EXPECT_EQ(bpe.split("newest"), Tokens({"newest</w>"}));
  EXPECT_EQ(bpe.split("xé"), Tokens({"x", "é</w>"}));
  EXPECT_EQ(bpe.split(""), Tokens());
  EXPECT_EQ(Bpe().split("low"), Tokens({"l", "o", "w</w>"}));
}

TEST(Bpe, StopsWhenNothingIsLeft) {
  EXPECT_EQ(Bpe::train({{"ab", 1}}, {.merges = 5}).merges(), 0);
  EXPECT_EQ(Bpe::train({{"ab", 2}}, {.merges = 5}).merges(), 1);
  EXPECT_EQ(Bpe::train({{"ab", 2}}, {.merges = 0}).merges(), 0);
  EXPECT_EQ(Bpe::train({}, {}).merges(), 0);
  EXPECT_EQ(Bpe::train({{"a", 9}}, {}).merges(), 0);
}

// Overlapping pairs are joined from the left, and their counts stay true.
TEST(Bpe, RunsOfOneLetter) {
  const Bpe bpe = Bpe::train({{"aaaaa", 3}, {"aaab", 1}}, {.merges = 1});
  EXPECT_EQ(bpe.text(), "fovea bpe 1 1\na a\n");
  EXPECT_EQ(bpe.split("aaaaaa"), Tokens({"aa", "aa", "a", "a</w>"}));
}

// Counting everything again before each merge, as the algorithm of the paper is written.
std::vector<std::string> merges_by_recounting(const TokenCounts& words, int64_t merges) {
  std::vector<std::pair<Tokens, int64_t>> split;
  for (const auto& [word, count] : words) split.emplace_back(Bpe().split(word), count);
  std::vector<std::string> lines;
  while (static_cast<int64_t>(lines.size()) < merges) {
    std::map<std::pair<std::string, std::string>, int64_t> pairs;
    for (const auto& [s, count] : split) {
      for (size_t i = 0; i + 1 < s.size(); ++i) pairs[{s[i], s[i + 1]}] += count;
    }
    auto best = pairs.end();
    for (auto p = pairs.begin(); p != pairs.end(); ++p) {
      if (p->second >= 2 && (best == pairs.end() || p->second > best->second)) best = p;
    }
    if (best == pairs.end()) break;
    const auto& [left, right] = best->first;
    lines.push_back(left + " " + right);
    for (auto& entry : split) {
      Tokens& s = entry.first;
      for (size_t i = 0; i + 1 < s.size(); ++i) {
        if (s[i] != left || s[i + 1] != right) continue;
        s[i] += right;
        s.erase(s.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
  }
  return lines;
}

RC_GTEST_PROP(Bpe, KeepsItsCountsTrue, ()) {
  TokenCounts words;
  const auto letters = rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c'));
  for (const std::string& w :
       *rc::gen::resize(8, rc::gen::container<Tokens>(rc::gen::nonEmpty(letters)))) {
    count_token(words, w, *rc::gen::inRange(1, 5));
  }
  std::string text;
  std::vector<std::string> merges = merges_by_recounting(words, 12);
  std::set<std::string> distinct;
  for (const std::string& line : merges) {
    // A pair that comes up again, since a piece can be made in two ways, gets no second line.
    RC_PRE(distinct.insert(line).second);
    text += line + "\n";
  }
  const Bpe bpe = Bpe::train(words, {.merges = 12});
  RC_ASSERT(bpe.text() == fmt::format("fovea bpe 1 {}\n", merges.size()) + text);
}

// Words of hostile letters: parts of the mark, and letters of several bytes.
rc::Gen<std::string> hostile_word() {
  return rc::gen::map(rc::gen::nonEmpty(rc::gen::container<Tokens>(rc::gen::element<std::string>(
                          "a", "b", "<", "/", "w", ">", "é", "€", "😀", "</w>", "\\", "\t"))),
                      [](const Tokens& parts) {
                        std::string word;
                        for (const std::string& p : parts) word += p;
                        return word;
                      });
}

RC_GTEST_PROP(Bpe, JoiningUndoesSplitting, ()) {
  const Tokens words = *rc::gen::resize(6, rc::gen::container<Tokens>(hostile_word()));
  TokenCounts counts;
  for (const std::string& w : words) count_token(counts, w, 2);
  const Bpe bpe = Bpe::train(counts, {.merges = *rc::gen::inRange(0, 20)});
  const Bpe copy = Bpe::from_text(bpe.text());
  Tokens pieces;
  std::string sentence;
  const std::string other = *rc::gen::resize(6, hostile_word());
  for (const std::string& w : words) {
    const Tokens split = bpe.split(w);
    RC_ASSERT(copy.split(w) == split);
    pieces.insert(pieces.end(), split.begin(), split.end());
    sentence += w + " ";
  }
  const Tokens split = bpe.split(other);
  pieces.insert(pieces.end(), split.begin(), split.end());
  RC_ASSERT(Bpe::join(pieces) == sentence + other);
}

TEST(Bpe, EncodesThroughAVocabulary) {
  const Bpe bpe = Bpe::train(kPaper, {.merges = 10});
  const Vocabulary pieces(bpe.count_pieces(kPaper));
  EXPECT_EQ(bpe.count_pieces(kPaper).at("newest</w>"), 6);
  BpeEncoder encode(bpe, pieces);
  std::vector<int32_t> once, twice;
  encode({"lower", "newest", "lower"}, once);
  EXPECT_EQ(Bpe::join(pieces.decode(once)), "lower newest lower");
  encode({"lower", "newest", "lower"}, twice);
  EXPECT_EQ(twice, once);
  // Appends; what was never seen is unknown.
  encode({"q"}, twice);
  EXPECT_EQ(twice.size(), once.size() + 1);
  EXPECT_EQ(twice.back(), Vocabulary::unknown);
}

// 100,000 letters of one word, or as many words, are a matter of a moment.
TEST(Bpe, LongWords) {
  std::string word;
  for (int i = 0; i < 100'000; ++i) word += static_cast<char>('a' + int64_t{i} * i % 7);
  const Bpe bpe = Bpe::train({{word, 2}}, {.merges = 200});
  EXPECT_EQ(Bpe::join(bpe.split(word)), word);
  EXPECT_LT(bpe.split(word).size(), 10'000u);
}

TEST(Bpe, RefusesWhatIsNone) {
  EXPECT_THROW(Bpe::train(kPaper, {.merges = -1}), ValueError);
  EXPECT_THROW(Bpe::train(kPaper, {.min_count = 0}), ValueError);
  EXPECT_THAT(message_of<ValueError>([] { Bpe::train({{"a b", 1}}); }), HasSubstr("'a b'"));
  EXPECT_THROW(Bpe::train({{"", 1}}), ValueError);
  EXPECT_THROW(Bpe::train({{"a\xff", 1}}), IoError);
  EXPECT_THROW(Bpe().split("\xc3"), IoError);
  struct {
    const char* text;
    const char* message;
  } const cases[] = {
      {"fovea vocabulary 1 0\n", "line 1: expected \"fovea bpe 1 N\""},
      {"fovea bpe 1 1\nab\n", "bpe line 2: expected two pieces"},
      {"fovea bpe 1 2\na b\na  b\n", "bpe line 3: expected two pieces"},
      {"fovea bpe 1 1\na \n", "bpe line 2"},
      {"fovea bpe 1 1\na</w> b\n", "found 'a</w> b'"},
      {"fovea bpe 1 1\n</w >\n", "found '</w >'"},
      {"fovea bpe 1 2\na b\na b\n", "expected distinct merges"},
      {"fovea bpe 1 2\na b\n", "expected 2 lines"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(message_of<IoError>([&] { Bpe::from_text(c.text); }), HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace fovea
