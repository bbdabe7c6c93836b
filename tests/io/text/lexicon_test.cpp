#include "fovea/io/lexicon.h"

#include <set>

#include "tests/io/temp_dir.h"

namespace fovea {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using testing::TempDir;
using Phones = std::vector<std::string>;

std::vector<LexiconEntry> lexicon_of(const std::string& text, const LexiconOptions& o = {}) {
  static const TempDir dir;
  return read_lexicon(dir.put("lex.out", text), o);
}

TEST(Lexicon, ReadsWordsAndPhones) {
  const auto list = lexicon_of("MNCL\n(\"abandon\" nil (((ax) 0) ((b ae n) 1) ((d ax n) 0)))\n");
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].word, "abandon");
  EXPECT_EQ(list[0].pronunciations, std::vector<Phones>({{"ax", "b", "ae", "n", "d", "ax", "n"}}));
}

// The number belongs to the syllable: its vowel carries it, and nothing where there is none.
TEST(Lexicon, StressStandsOnTheVowel) {
  const auto list =
      lexicon_of("MNCL\n(\"dvorak\" nil (((d) 0) ((v ao) 1) ((r ax k) 0)))\n", {.stress = true});
  EXPECT_EQ(list.at(0).pronunciations, std::vector<Phones>({{"d", "v", "ao1", "r", "ax0", "k"}}));
}

TEST(Lexicon, MergesPronunciationsInFileOrder) {
  const std::string text =
      "MNCL\n; nouns, verbs\n(\"abuse\" n (((ax) 0) ((b y uw s) 1)))\n"
      "(\"it's\" nil (((ih t s) 1)))\n\n"
      "(\"abuse\" v (((ax) 0) ((b y uw z) 1)))\n(\"abuse\" v_p (((ax b) 1) ((y uw s) 0)))";
  const auto list = lexicon_of(text);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].word, "abuse");
  EXPECT_EQ(list[0].pronunciations,
            std::vector<Phones>({{"ax", "b", "y", "uw", "s"}, {"ax", "b", "y", "uw", "z"}}));
  EXPECT_EQ(list[1].word, "it's");
  // The third differs in its stress alone.
  EXPECT_EQ(lexicon_of(text, {.stress = true})[0].pronunciations.size(), 3u);
}

TEST(Lexicon, ReadsOddButValidEntries) {
  const auto list = lexicon_of(
      "MNCL\r\n(\"say \\\"4u\\\"\" nil ( ( ( s ey ) 1 )((f ao r) 2) ) )\r\n", {.stress = true});
  EXPECT_EQ(list.at(0).word, "say \"4u\"");
  EXPECT_EQ(list[0].pronunciations, std::vector<Phones>({{"s", "ey1", "f", "ao2", "r"}}));
}

TEST(Lexicon, SaysWhatItExpectedAndFound) {
  struct {
    const char* line;
    const char* expected;
    const char* found;
  } const cases[] = {
      {"(\"a\" dt (((ax) 0))", "expected ')'", "the end of the line"},
      {"(\"a\" dt (((ax) 0))) x", "expected the end of the line", "'x'"},
      {"(\"a\" dt (((ax) 7)))", "expected a stress of 0, 1 or 2", "'7)))'"},
      {"(\"a\" dt (((ax) 01)))", "expected a stress of one digit", "')))'"},
      {"(\"a\" dt ((() 0)))", "expected a phone", "') 0)))'"},
      {"(\"a\" dt ())", "expected '('", "'))'"},
      {"(\"a\" (((ax) 0)))", "expected a part of speech", "'(((ax) 0)))'"},
      {"(\"\" nil (((ax) 0)))", "expected a word", "'\" nil"},
      {"(\"a nil (((ax) 0)))", "expected '\"' after the word", "the end of the line"},
      {"a,ax", "expected '('", "'a,ax'"},
      {"(", "expected '\"'", "the end of the line"},
  };
  for (const auto& c : cases) {
    const std::string text = std::string("MNCL\n(\"b\" nil (((b iy) 1)))\n") + c.line + "\n";
    EXPECT_THAT(message_of<IoError>([&] { lexicon_of(text); }),
                AllOf(HasSubstr("lex.out' line 3: "), HasSubstr(c.expected), HasSubstr(c.found)))
        << c.line;
  }
  EXPECT_THAT(message_of<IoError>([] { lexicon_of("MNCL\n(\"a\" dt (((ax \xff\n"); }),
              HasSubstr("lex.out' line 2 is not UTF-8: byte 14 is 0xff"));
}

TEST(Lexicon, MarksSyllables) {
  const auto list = lexicon_of("MNCL\n(\"abandon\" nil (((ax) 0) ((b ae n) 1) ((d ax n) 0)))\n",
                               {.stress = true, .syllables = true});
  EXPECT_EQ(list[0].pronunciations[0],
            Phones({"ax0", kSyllableMark, "b", "ae1", "n", kSyllableMark, "d", "ax0", "n"}));
}

TEST(Lexicon, RefusesOtherFiles) {
  EXPECT_THAT(message_of<IoError>([] { lexicon_of("THE  DH AH0\n"); }),
              AllOf(HasSubstr("line 1: expected MNCL"), HasSubstr("'THE  DH AH0'")));
  EXPECT_THAT(message_of<IoError>([] { lexicon_of(""); }), HasSubstr("found nothing"));
  EXPECT_THAT(message_of<IoError>([] { lexicon_of("MNCL\n\n"); }), HasSubstr("found none"));
  EXPECT_THAT(message_of<IoError>([] { read_lexicon("/nowhere/cmudict.out"); }),
              AllOf(HasSubstr("'/nowhere/cmudict.out'"), HasSubstr("package festlex-cmu")));
}

TEST(Lexicon, ReadsTheCmuDictionary) {
  if (!std::filesystem::exists(kCmuDictionary)) GTEST_SKIP() << "festlex-cmu is not installed";
  const auto list = read_lexicon(kCmuDictionary, {.stress = true});
  EXPECT_EQ(list.size(), 105664u);
  size_t several = 0;
  for (const LexiconEntry& e : list) several += e.pronunciations.size() > 1 ? 1 : 0;
  EXPECT_EQ(several, 229u);  // "a", "abject", ...
  EXPECT_EQ(list[0].word, "a");
  EXPECT_EQ(list[0].pronunciations, std::vector<Phones>({{"ax0"}, {"ey1"}}));
  std::set<std::string> phones;
  for (const LexiconEntry& e : list) {
    phones.insert(e.pronunciations[0].begin(), e.pronunciations[0].end());
  }
  // 24 consonants, and 16 vowels with and without stress, which "ax" never has.
  EXPECT_EQ(phones.size(), 24u + 2 * 16u - 1u);
  EXPECT_EQ(phones.count("ax1"), 0u);
}

}  // namespace
}  // namespace fovea
