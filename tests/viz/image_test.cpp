#include "fovea/viz/image.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/viz/font.h"

namespace {

using namespace fovea;

constexpr Color kWhite{255, 255, 255}, kBlack{0, 0, 0}, kRed{255, 0, 0};

int64_t count(const Image& image, Color c) {
  int64_t n = 0;
  for (int64_t y = 0; y < image.height; ++y) {
    for (int64_t x = 0; x < image.width; ++x) n += image.at(x, y) == c;
  }
  return n;
}

TEST(Image, FillsAndClips) {
  Image image(10, 6, kWhite);
  EXPECT_EQ(image.rgb.size(), 180u);
  fill(image, {-5, -5, 7, 8}, kRed);
  EXPECT_EQ(count(image, kRed), 2 * 3);
  EXPECT_EQ(image.at(1, 2), kRed);
  EXPECT_EQ(image.at(2, 2), kWhite);
  image.blend(5, 5, kBlack, 0.5);
  EXPECT_EQ(image.at(5, 5), (Color{128, 128, 128}));
  image.blend(10, 5, kBlack);
  image.blend(-1, 0, kBlack);
  EXPECT_THROW(Image(0, 5, kWhite), ValueError);
  EXPECT_THROW(Image(5, int64_t{1} << 40, kWhite), ValueError);
}

TEST(Image, DrawsTheOutlineOfARectangle) {
  Image image(12, 12, kWhite);
  draw_rect(image, 2, 3, 10, 9, 1, {kRed});
  EXPECT_EQ(count(image, kRed), 8 * 6 - 6 * 4);
  EXPECT_EQ(image.at(2, 3), kRed);
  EXPECT_EQ(image.at(9, 8), kRed);
  EXPECT_EQ(image.at(3, 4), kWhite);
}

TEST(Image, DrawsLinesAndDiscsAtTheirPlace) {
  Image image(40, 40, kWhite);
  draw_line(image, 5, 10, 35, 10, 2, {kRed});
  for (int64_t x = 6; x < 34; ++x) {
    EXPECT_EQ(image.at(x, 9), kRed);
    EXPECT_EQ(image.at(x, 10), kRed);
    EXPECT_EQ(image.at(x, 7), kWhite);
    EXPECT_EQ(image.at(x, 12), kWhite);
  }
  Image disc(40, 40, kWhite);
  draw_disc(disc, 20, 20, 10, {kBlack});
  double ink = 0;
  for (int64_t y = 0; y < 40; ++y) {
    for (int64_t x = 0; x < 40; ++x) ink += 1 - disc.at(x, y).r / 255.0;
  }
  EXPECT_NEAR(ink, 314.16, 3);
  draw_line(image, 5, 5, 5, 5, 3, {kBlack});  // a point
  EXPECT_EQ(image.at(5, 5), kBlack);
}

TEST(Image, KeepsToTheClipAndSurvivesAnyNumber) {
  Image image(20, 20, kWhite);
  draw_rect(image, 0, 0, 20, 20, 20, {kRed, 1, {5, 6, 7, 8}});
  EXPECT_EQ(count(image, kRed), 7 * 8);
  EXPECT_EQ(image.at(5, 6), kRed);
  Image same(20, 20, kWhite);
  for (double v : {1e300, -1e300, double{INFINITY}, std::nan("")}) {
    draw_line(same, v, 1, v, 2, 1, {kRed});
    draw_disc(same, v, v, 3, {kRed});
    draw_rect(same, v, v, v, v, 1, {kRed});
  }
  EXPECT_EQ(same.rgb, Image(20, 20, kWhite).rgb);
}

TEST(Image, MixesColours) {
  EXPECT_EQ(mix(kBlack, kRed, 0), kBlack);
  EXPECT_EQ(mix(kBlack, kRed, 1), kRed);
  EXPECT_EQ(mix(kBlack, kRed, 7), kRed);
  EXPECT_GT(mix(kBlack, kWhite, 0.5).r, 150);  // linear light: lighter than the mean of the bytes
}

TEST(Font, DrawsEveryCharacterDifferently) {
  std::vector<std::vector<uint8_t>> seen;
  for (int c = ' '; c <= 127; ++c) {
    Image image(8, 10, kWhite);
    const std::string s(1, static_cast<char>(c));
    const int64_t width = text_width(s);
    EXPECT_LE(width, 5) << s;
    draw_text(image, 1, 0, s, kBlack);
    EXPECT_EQ(count(image, kBlack) > 0, c != ' ') << s;
    for (const auto& other : seen) EXPECT_NE(other, image.rgb) << s;
    seen.push_back(image.rgb);
  }
}

TEST(Font, MeasuresWhatItDraws) {
  const std::string text = "Query 42, g?";
  for (int64_t scale : {1, 3}) {
    Image image(300, 40, kWhite);
    const int64_t width = text_width(text, scale);
    EXPECT_EQ(draw_text(image, 10, 5, text, kBlack, scale), 10 + width + scale);
    int64_t left = 300, right = 0, top = 40, bottom = 0;
    for (int64_t y = 0; y < 40; ++y) {
      for (int64_t x = 0; x < 300; ++x) {
        if (!(image.at(x, y) == kBlack)) continue;
        left = std::min(left, x);
        right = std::max(right, x + 1);
        top = std::min(top, y);
        bottom = std::max(bottom, y + 1);
      }
    }
    EXPECT_EQ(left, 10);
    EXPECT_EQ(right, 10 + width);
    EXPECT_EQ(top, 5);
    EXPECT_EQ(bottom, 5 + (kTextHeight + kTextDepth) * scale);
  }
  EXPECT_EQ(text_width(""), 0);
  Image small(3, 3, kWhite);
  draw_text(small, -2, -2, "\xff W", kBlack, 2);  // clipped
}

TEST(Font, PutsMarksOnLatinLetters) {
  const auto draw = [](std::string_view text) {
    Image image(40, 20, kWhite);
    draw_text(image, 4, 5, text, kBlack);
    return image;
  };
  const Image box = draw("\u65e5");
  std::vector<std::vector<uint8_t>> seen{box.rgb};
  for (const char* letter : {"\u00e9", "\u00e8", "\u00ea", "\u00eb", "e", "\u00f1", "\u00e5",
                             "\u00ee", "i", "\u00c9", "E", "\u00dc", "\u00e7", "c"}) {
    const Image image = draw(letter);
    for (const auto& other : seen) EXPECT_NE(other, image.rgb) << letter;
    seen.push_back(image.rgb);
  }
  EXPECT_EQ(text_width("\u00e9t\u00e9"), text_width("ete"));
  EXPECT_EQ(draw("\u00d7").rgb, box.rgb) << "no letter";
  EXPECT_EQ(draw("\U0001F600").rgb, box.rgb) << "one box a character";
  EXPECT_EQ(draw("\xff").rgb, box.rgb);
}

TEST(Font, TurnsTextLeft) {
  const std::string_view text = "Ag, \u00e9!";
  const int64_t width = text_width(text, 2);
  Image level(width, 18, kWhite), upward(18, width, kWhite);
  draw_text(level, 0, 0, text, kBlack, 2);
  draw_text_upward(upward, 0, width, text, kBlack, 2);
  EXPECT_GT(count(level, kBlack), 50);
  for (int64_t y = 0; y < 18; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      EXPECT_EQ(level.at(x, y), upward.at(y, width - 1 - x)) << x << ' ' << y;
    }
  }
}

}  // namespace
