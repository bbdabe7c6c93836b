#include "fovea/io/characters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;

TEST(Characters, ThereAndBack) {
  const std::string text = "Bäume: a €, 😀\n\tz";
  const Characters c(text);
  EXPECT_EQ(c.size(), 14);
  EXPECT_EQ(c.decode(c.encode(text)), text);
  EXPECT_EQ(Characters(c.text()).decode(c.encode(text)), text);
  EXPECT_TRUE(equal(Characters("cab").encode("abc"), tensor({0, 1, 2})));
  EXPECT_EQ(Characters("").size(), 0);
  EXPECT_EQ(Characters("a").encode("").shape(), Shape({0}));
  EXPECT_EQ(code_points("a😀"), (std::vector<char32_t>{U'a', U'\U0001F600'}));
}

// The first and the last of each length, and the neighbours of the surrogates.
TEST(Characters, EveryLengthOfUtf8) {
  const std::vector<char32_t> edges{0,      0x7f,   0x80,   0x7ff,   0x800,
                                    0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};
  EXPECT_EQ(to_utf8(edges).size(), 2 * 1 + 2 * 2 + 4 * 3 + 2 * 4u);
  EXPECT_EQ(code_points(to_utf8(edges)), edges);
  EXPECT_EQ(to_utf8({0x800}), "\xe0\xa0\x80");
  EXPECT_EQ(to_utf8({0x10ffff}), "\xf4\x8f\xbf\xbf");
}

TEST(Characters, RefusesWhatIsNotUtf8) {
  for (const char* bad : {"ab\xff", "ab\xc3", "ab\xc0\x80", "ab\xed\xa0\x80", "ab\xf4\x90\x80\x80",
                          "ab\x80", "ab\xe2\x82", "ab\xe0\x80\x80", "ab\xf5\x80\x80\x80"}) {
    try {
      code_points(bad, "'letter.txt'");
      ADD_FAILURE() << "was taken";
    } catch (const IoError& e) {
      EXPECT_THAT(e.what(), HasSubstr("'letter.txt' is not UTF-8: byte 2 is 0x"));
    }
  }
}

TEST(Characters, NamesTheCharacterItDoesNotKnow) {
  try {
    EXPECT_EQ(Characters("abc").encode("abé").numel(), 0);
    ADD_FAILURE() << "was taken";
  } catch (const ValueError& e) {
    EXPECT_THAT(e.what(), HasSubstr("'é' (U+00E9)"));
  }
  EXPECT_THROW(Characters("abc").decode(tensor({3})), IndexError);
}

}  // namespace
}  // namespace fovea
