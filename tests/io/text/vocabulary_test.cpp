#include "fovea/io/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/io/temp_dir.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using Tokens = std::vector<std::string>;

TokenCounts counts_of(const Tokens& tokens) {
  TokenCounts counts;
  for (const std::string& t : tokens) count_token(counts, t);
  return counts;
}

Tokens listed(const Vocabulary& v) {
  Tokens tokens;
  for (int64_t id = Vocabulary::marks; id < v.size(); ++id) tokens.push_back(v.token(id));
  return tokens;
}

TEST(Vocabulary, OrdersByCountThenBytes) {
  const TokenCounts counts = counts_of({"b", "é", "a", "c", "c", "b", "c", "Z", "b"});
  EXPECT_EQ(listed(Vocabulary(counts)), Tokens({"b", "c", "Z", "a", "é"}));
  EXPECT_EQ(listed(Vocabulary(counts, {.min_count = 2})), Tokens({"b", "c"}));
  EXPECT_EQ(listed(Vocabulary(counts, {.max_size = 7})), Tokens({"b", "c", "Z"}));
  EXPECT_EQ(listed(Vocabulary(counts, {.max_size = 4})), Tokens());
  EXPECT_EQ(listed(Vocabulary(counts, {.max_size = 1000})).size(), 5u);
  EXPECT_THROW(Vocabulary(counts, {.min_count = 0}), ValueError);
  EXPECT_THROW(Vocabulary(counts, {.max_size = 3}), ValueError);
  EXPECT_THROW(Vocabulary(counts, {.max_size = -1}), ValueError);
}

TEST(Vocabulary, MarksAndUnknownTokens) {
  const Vocabulary v(Tokens{"cat", "dog", "<pad>"});
  EXPECT_EQ(v.size(), 7);
  EXPECT_EQ(v.encode({"dog", "bird", "cat"}), (std::vector<int32_t>{5, Vocabulary::unknown, 4}));
  // A token spelt like a mark is none.
  EXPECT_EQ(v.encode({"<pad>", "</s>"}), (std::vector<int32_t>{6, Vocabulary::unknown}));
  EXPECT_EQ(v.token(0), "<pad>");
  EXPECT_EQ(v.token(3), "</s>");
  EXPECT_TRUE(v.contains("cat"));
  EXPECT_FALSE(v.contains("<unk>"));
  const std::vector<int64_t> ids{2, 4, 1, 0, 5, 3, 4};
  EXPECT_EQ(v.decode(ids), Tokens({"cat", "<unk>", "dog"}));
  EXPECT_THROW(v.token(7), IndexError);
  EXPECT_THROW(v.token(-1), IndexError);
  EXPECT_THROW(v.decode(std::vector<int32_t>{4, 7}), IndexError);
  EXPECT_EQ(Vocabulary().size(), 4);
  EXPECT_EQ(Vocabulary().encode({"a"}), std::vector<int32_t>{Vocabulary::unknown});
}

TEST(Vocabulary, TextThereAndBack) {
  const Tokens tokens{"b", "a\nb", "\\n", "\\", "", " ", "\r", "é", "1"};
  const Vocabulary v(tokens);
  EXPECT_EQ(listed(Vocabulary::from_text(v.text())), tokens);
  EXPECT_EQ(Vocabulary::from_text(v.text()).text(), v.text());
  EXPECT_EQ(Vocabulary::from_text(Vocabulary().text()).size(), 4);
  EXPECT_EQ(Vocabulary(Tokens{"a", "b"}).text(), "fovea vocabulary 1 2\na\nb\n");
}

TEST(Vocabulary, RefusesOtherText) {
  struct {
    const char* text;
    const char* message;
  } const cases[] = {
      {"", "line 1: expected \"fovea vocabulary 1 N\", found ''"},
      {"fovea bpe 1 0\n", "found 'fovea bpe 1 0'"},
      {"fovea vocabulary 12\n", "found 'fovea vocabulary 12'"},
      {"fovea vocabulary 1 2x\na\nb\n", "found 'fovea vocabulary 1 2x'"},
      {"fovea vocabulary 1 -1\n", "found 'fovea vocabulary 1 -1'"},
      {"fovea vocabulary 1 3\na\nb\n", "expected 3 lines after the first, found 2"},
      {"fovea vocabulary 1 2\na\nb", "line 3: expected a newline at its end, found 'b'"},
      {"fovea vocabulary 1 2\na\na\n", "distinct tokens, found 'a' twice"},
      {"fovea vocabulary 1 1\na\\x\n", "line 2: expected 'n' or '\\' after '\\', found '\\x'"},
      {"fovea vocabulary 1 1\na\\\n", "found '\\'"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(message_of<IoError>([&] { Vocabulary::from_text(c.text); }), HasSubstr(c.message));
  }
  EXPECT_THAT(message_of<ValueError>([] {
                Vocabulary(Tokens{"a", "b", "a"});
              }),
              HasSubstr("the token 'a' occurs twice"));
}

RC_GTEST_PROP(Vocabulary, KnownTokensComeBack, (const std::vector<std::string>& tokens)) {
  const Vocabulary v(counts_of(tokens));
  const std::vector<int32_t> ids = v.encode(tokens);
  RC_ASSERT(v.decode(ids) == tokens);
  RC_ASSERT(Vocabulary::from_text(v.text()).encode(tokens) == ids);
}

}  // namespace
}  // namespace fovea
