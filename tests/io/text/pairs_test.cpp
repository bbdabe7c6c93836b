#include "fovea/io/pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <zlib.h>

#include "fovea/io/bpe.h"
#include "tests/io/temp_dir.h"

namespace fovea {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using testing::TempDir;
using Tokens = std::vector<std::string>;
using Pairs = std::vector<std::pair<Tokens, Tokens>>;

struct PairsRead {
  Pairs pairs;
  PairReport report;
};
PairsRead pairs_of(const std::string& text, const PairOptions& o = {}) {
  static const TempDir dir;
  PairReader reader(dir.put("p.tsv", text), o);
  PairsRead r;
  while (reader.next()) {
    r.pairs.emplace_back(Tokens(reader.source().begin(), reader.source().end()),
                         Tokens(reader.target().begin(), reader.target().end()));
  }
  r.report = reader.report();
  return r;
}

TEST(Pairs, WordsAndCharacters) {
  const std::string line = "  a  bé \tc d\te\n";
  EXPECT_EQ(pairs_of(line).pairs, Pairs({{{"a", "bé"}, {"c", "d"}}}));
  EXPECT_EQ(pairs_of(line, {.source_column = 3, .target_column = 1}).pairs,
            Pairs({{{"e"}, {"a", "bé"}}}));
  EXPECT_EQ(pairs_of(line, {.target_column = 1, .source_unit = TokenUnit::characters}).pairs,
            Pairs({{{" ", " ", "a", " ", " ", "b", "é", " "}, {"a", "bé"}}}));
  EXPECT_EQ(pairs_of("a\u00a0b\t😀z", {.target_unit = TokenUnit::characters}).pairs,
            Pairs({{{"a\u00a0b"}, {"😀", "z"}}}));
}

TEST(Pairs, LineEndsMarksAndNoLastNewline) {
  const Pairs want({{{"a"}, {"b"}}, {{"c"}, {"d"}}});
  EXPECT_EQ(pairs_of("a\tb\nc\td\n").pairs, want);
  EXPECT_EQ(pairs_of("a\tb\r\nc\td\r\n").pairs, want);
  EXPECT_EQ(pairs_of("\xef\xbb\xbf"
                     "a\tb\nc\td")
                .pairs,
            want);
  EXPECT_EQ(pairs_of("a\tb").pairs, Pairs({{{"a"}, {"b"}}}));
}

TEST(Pairs, CountsWhatItLeavesOut) {
  const PairsRead r =
      pairs_of("a\tb\n\tb\n \t \na\t \n\n   \na b c\tx\nc\td e f\nc\td\n", {.max_length = 2});
  EXPECT_EQ(r.pairs, Pairs({{{"a"}, {"b"}}, {{"c"}, {"d"}}}));
  EXPECT_EQ(r.report.pairs, 2);
  EXPECT_EQ(r.report.empty, 5);
  EXPECT_EQ(r.report.first_empty_line, 2);
  EXPECT_EQ(r.report.too_long, 2);
  EXPECT_EQ(r.report.first_too_long_line, 7);
  EXPECT_EQ(r.report.str(),
            "2 pairs; 5 without text on one side, the first in line 2; 2 too long, the first in "
            "line 7");
  EXPECT_EQ(pairs_of("a\tb").report.str(), "1 pairs");
  // Spaces are no text in characters either.
  EXPECT_EQ(pairs_of("a\tb\n  \tc", {.source_unit = TokenUnit::characters}).report.empty, 1);
}

TEST(Pairs, StopsAfterEnough) {
  const PairsRead r = pairs_of("a\tb\n\t\nc\td\nbroken", {.max_pairs = 2});
  EXPECT_EQ(r.pairs.size(), 2u);
  EXPECT_EQ(r.report.empty, 1);
}

TEST(Pairs, LongLines) {
  std::string source, target;
  for (int i = 0; i < 100'000; ++i) source += "é", target += "w ";
  const std::string text = source + "\t" + target + "\nx\ty\n";
  const PairsRead r = pairs_of(text, {.source_unit = TokenUnit::characters});
  ASSERT_EQ(r.pairs.size(), 2u);
  EXPECT_EQ(r.pairs[0].first.size(), 100'000u);
  EXPECT_EQ(r.pairs[0].second.size(), 100'000u);
  EXPECT_EQ(pairs_of(text, {.max_length = 99'999}).report.too_long, 1);
  EXPECT_EQ(pairs_of(text, {.max_length = 100'000}).report.too_long, 0);
}

TEST(Pairs, NamesFileLineAndFault) {
  struct {
    const char* text;
    const char* message;
  } const cases[] = {
      {"a\tb\nc\n",
       "p.tsv' line 2: expected at least 2 columns with tabs between them, found 1: "
       "'c'"},
      {"a\tb\nb\xc3\tc\n", "p.tsv' line 2 is not UTF-8: byte 1 is 0xc3"},
      {"a\tb\t\xff\n", "p.tsv' line 1 is not UTF-8: byte 4 is 0xff"},
      {"", "p.tsv': expected a pair by the end of the file, found 0 pairs"},
      {"\t\n\n", "line 2: expected a pair by the end of the file, found 0 pairs; 2 without text"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(message_of<IoError>([&] { pairs_of(c.text); }), HasSubstr(c.message));
  }
  EXPECT_THAT(message_of<IoError>([] { pairs_of("a b c\td\n", {.max_length = 2}); }),
              HasSubstr("1 too long"));
  for (const PairOptions& o : {PairOptions{.source_column = 0}, PairOptions{.target_column = -1},
                               PairOptions{.max_length = -1}, PairOptions{.max_pairs = -1}}) {
    EXPECT_THROW(pairs_of("a\tb", o), ValueError);
  }
  EXPECT_THROW(count_pairs("/nowhere/p.tsv"), IoError);
}

TEST(Pairs, CountsAndEncodes) {
  const TempDir dir;
  const std::string path = dir.put("p.tsv", "a b a\tx\nb\ty x\n\tz\nc a b\tx\n");
  const PairCounts counts = count_pairs(path);
  EXPECT_EQ(counts.source, (TokenCounts{{"a", 3}, {"b", 3}, {"c", 1}}));
  EXPECT_EQ(counts.target, (TokenCounts{{"x", 3}, {"y", 1}}));
  EXPECT_EQ(counts.report.empty, 1);
  const Vocabulary from(counts.source, {.min_count = 2}), to(counts.target);
  PairReport report;
  const PairCorpus corpus = encode_pairs(path, {}, std::cref(from), std::cref(to), &report);
  ASSERT_EQ(corpus.size(), 3);
  EXPECT_EQ(corpus.target.size(), 3);
  EXPECT_EQ(corpus.source.tokens(), 7);
  EXPECT_EQ(report.pairs, 3);
  EXPECT_EQ(from.decode(corpus.source[0]), Tokens({"a", "b", "a"}));
  EXPECT_EQ(to.decode(corpus.target[1]), Tokens({"y", "x"}));
  EXPECT_EQ(corpus.source[2][0], Vocabulary::unknown);
  EXPECT_EQ(corpus.source.length(1), 1);
}

TEST(Pairs, EncodesSubwords) {
  const TempDir dir;
  const std::string path = dir.put("p.tsv", "low lower\tx\nnewest\tx\nunknown\tx\n");
  const Bpe bpe = Bpe::train({{"low", 3}, {"lower", 3}, {"newest", 3}});
  const Vocabulary pieces(bpe.count_pieces({{"low", 1}, {"lower", 1}, {"newest", 1}}));
  const Vocabulary to(count_pairs(path).target);
  PairReport report;
  // "unknown" has one word, but as many pieces as letters.
  const PairCorpus corpus =
      encode_pairs(path, {.max_length = 3}, BpeEncoder(bpe, pieces), std::cref(to), &report);
  ASSERT_EQ(corpus.size(), 2);
  EXPECT_EQ(Bpe::join(pieces.decode(corpus.source[0])), "low lower");
  EXPECT_EQ(report.pairs, 2);
  EXPECT_EQ(report.too_long, 1);
  EXPECT_EQ(report.first_too_long_line, 3);
  EXPECT_THROW(encode_pairs(
                   path, {.max_length = 1},
                   [](const auto&, auto& ids) {
                     ids = {9, 9};
                   },
                   std::cref(to)),
               IoError);
}

TEST(Pairs, ReadsGzip) {
  const TempDir dir;
  const gzFile file = ::gzopen((dir / "p.tsv.gz").c_str(), "wb");
  ASSERT_EQ(::gzputs(file, "a\tb\nc\td\n"), 8);
  ASSERT_EQ(::gzclose(file), Z_OK);
  EXPECT_EQ(count_pairs(dir / "p.tsv.gz").report.pairs, 2);
}

TEST(Pairs, HoldsALineNotTheFile) {
  const TempDir dir;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "one two three four\tfive six\n";
  PairReader reader(dir.put("p.tsv", text), {});
  int64_t most = 0;
  while (reader.next()) most = std::max(most, reader.memory());
  EXPECT_EQ(reader.report().pairs, 100'000);
  EXPECT_LT(most, 70'000);
}

RC_GTEST_PROP(Pairs, WhatIsWrittenIsRead, ()) {
  const auto word =
      rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>('!', '\x7f')));
  const auto words = rc::gen::nonEmpty(rc::gen::container<Tokens>(word));
  const auto pairs = *rc::gen::resize(
      3, rc::gen::nonEmpty(rc::gen::container<Pairs>(rc::gen::pair(words, words))));
  const auto joined = [](const Tokens& tokens) {
    std::string s;
    for (const std::string& t : tokens) s += (s.empty() ? "" : " ") + t;
    return s;
  };
  std::string text;
  for (const auto& [from, to] : pairs) text += joined(from) + "\t" + joined(to) + "\n";
  RC_ASSERT(pairs_of(text).pairs == pairs);
}

}  // namespace
}  // namespace fovea
