#include "fovea/io/text_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "tests/io/temp_dir.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using Phones = std::vector<std::string>;
using Ids = std::vector<int32_t>;

Phones letters(const std::string& s) {
  Phones list;
  for (const char c : s) list.emplace_back(1, c);
  return list;
}

std::vector<int64_t> edits_between(const std::string& reference, const std::string& hypothesis) {
  const Edits e = edit_distance(letters(reference), letters(hypothesis));
  return {e.insertions, e.deletions, e.substitutions};
}

TEST(EditDistance, CountsEachKind) {
  using Counts = std::vector<int64_t>;
  EXPECT_EQ(edits_between("kitten", "sitting"), Counts({1, 0, 2}));
  EXPECT_EQ(edits_between("sitting", "kitten"), Counts({0, 1, 2}));
  EXPECT_EQ(edits_between("", "abc"), Counts({3, 0, 0}));
  EXPECT_EQ(edits_between("abc", ""), Counts({0, 3, 0}));
  EXPECT_EQ(edits_between("abc", "abc"), Counts({0, 0, 0}));
  EXPECT_EQ(edits_between("", ""), Counts({0, 0, 0}));
  // Also one deletion and one insertion: as many, but fewer substitutions.
  EXPECT_EQ(edits_between("ab", "bc"), Counts({0, 0, 2}));
  EXPECT_EQ(edits_between("abcdef", "bcdefg"), Counts({1, 1, 0}));
}

// The definition, without a table.
int64_t naive_distance(const Ids& a, const Ids& b, size_t i = 0, size_t j = 0) {
  if (i == a.size()) return static_cast<int64_t>(b.size() - j);
  if (j == b.size()) return static_cast<int64_t>(a.size() - i);
  const int64_t keep = naive_distance(a, b, i + 1, j + 1) + (a[i] != b[j] ? 1 : 0);
  return std::min({keep, naive_distance(a, b, i + 1, j) + 1, naive_distance(a, b, i, j + 1) + 1});
}

rc::Gen<Ids> short_sequence() {
  return rc::gen::resize(6, rc::gen::container<Ids>(rc::gen::inRange<int32_t>(0, 3)));
}

RC_GTEST_PROP(EditDistance, IsAMetric, ()) {
  const Ids a = *short_sequence(), b = *short_sequence(), c = *short_sequence();
  const auto distance = [](const Ids& x, const Ids& y) { return edit_distance(x, y).total(); };
  RC_ASSERT(distance(a, b) == naive_distance(a, b));
  RC_ASSERT(distance(a, b) == distance(b, a));
  RC_ASSERT((distance(a, b) == 0) == (a == b));
  RC_ASSERT(distance(a, c) <= distance(a, b) + distance(b, c));
  const Edits e = edit_distance(a, b);
  RC_ASSERT(e.insertions >= 0);
  RC_ASSERT(e.deletions >= 0);
  RC_ASSERT(e.substitutions >= 0);
  RC_ASSERT(static_cast<int64_t>(a.size()) + e.insertions - e.deletions ==
            static_cast<int64_t>(b.size()));
  const std::vector<int64_t> wide_a(a.begin(), a.end()), wide_b(b.begin(), b.end());
  RC_ASSERT(edit_distance(wide_a, wide_b).total() == e.total());
}

TEST(ErrorRate, SumsBeforeItDivides) {
  ErrorRate r;
  r.add(letters("abcd"), {letters("abcd")});
  r.add(letters("x"), {letters("y")});
  EXPECT_DOUBLE_EQ(r.rate(), 1 / 5.0);
  EXPECT_DOUBLE_EQ(r.sequence_rate(), 1 / 2.0);
  EXPECT_EQ(r.reference_length(), 5);
  r.add(letters("zzzzzzzzzzz"), {letters("")});
  EXPECT_DOUBLE_EQ(r.rate(), 12 / 5.0);
  EXPECT_EQ(r.edits().insertions, 11);
  EXPECT_EQ(r.edits().substitutions, 1);
  EXPECT_EQ(r.sequences(), 3);
  EXPECT_EQ(r.wrong_sequences(), 2);
}

TEST(ErrorRate, TakesTheReferenceWithFewestEdits) {
  ErrorRate r;
  // One edit of two tokens, not two of eight, though the rate were lower.
  EXPECT_EQ(r.add(letters("abcdef"), {letters("abcdefgh"), letters("abcdefg")}).total(), 1);
  EXPECT_EQ(r.reference_length(), 7);
  // Of equally close ones the longest, wherever it stands.
  for (const auto& references :
       {std::vector<Phones>{letters("ab"), letters("abcd")}, {letters("abcd"), letters("ab")}}) {
    ErrorRate tie;
    tie.add(letters("abc"), references);
    EXPECT_DOUBLE_EQ(tie.rate(), 1 / 4.0);
  }
  ErrorRate exact;
  exact.add(std::vector<int64_t>{7, 8}, {{1, 2, 3}, {7, 8}, {7, 8, 9}});
  exact.add(Ids{}, {Ids{}});
  EXPECT_EQ(exact.rate(), 0);
  EXPECT_EQ(exact.sequence_rate(), 0);
  EXPECT_THAT(message_of<ValueError>([&] { exact.add(Ids{1}, {}); }),
              HasSubstr("without a reference"));
  EXPECT_EQ(exact.sequences(), 2);
}

TEST(ErrorRate, OverNothing) {
  ErrorRate r;
  EXPECT_TRUE(std::isnan(r.rate()));
  EXPECT_TRUE(std::isnan(r.sequence_rate()));
  r.add(letters("a"), {letters("")});
  EXPECT_TRUE(std::isinf(r.rate()));
  EXPECT_EQ(r.sequence_rate(), 1);
}

TEST(Perplexity, OfTheMeanOfTokens) {
  Perplexity p;
  p.add(3 * std::log(2.0), 3);
  p.add(1 * std::log(32.0), 1);
  EXPECT_NEAR(p.value(), 4, 1e-12);
  EXPECT_NEAR(p.mean_nll(), 2 * std::log(2.0), 1e-12);
  EXPECT_EQ(p.tokens(), 4);
}

TEST(Perplexity, InfiniteNotNan) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Perplexity large, infinite, nothing, nan;
  large.add(1e6, 10);
  EXPECT_EQ(large.value(), kInfinity);
  EXPECT_EQ(large.mean_nll(), 1e5);
  infinite.add(kInfinity, 1);
  infinite.add(1, 1);
  EXPECT_EQ(infinite.value(), kInfinity);
  nothing.add(0, 0);
  EXPECT_TRUE(std::isnan(nothing.value()));
  nan.add(std::numeric_limits<double>::quiet_NaN(), 1);
  EXPECT_TRUE(std::isnan(nan.value()));
  EXPECT_THROW(nan.add(1, -1), ValueError);
}

}  // namespace
}  // namespace fovea
