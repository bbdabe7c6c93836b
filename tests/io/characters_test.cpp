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
