#include "fovea/viz/glimpse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/error.h"

namespace {

using namespace fovea;
using ::testing::HasSubstr;

GlimpseGrid one_image() {
  GlimpseGrid g;
  g.height = g.width = 10;
  g.patch = 4;
  g.zoom = 4;
  g.paths = {{std::vector<float>(100, 0.0f), {}, -1, -1}};
  return g;
}

std::string message_of(const GlimpseGrid& g) {
  try {
    (void)draw_glimpses(g);
  } catch (const ValueError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Glimpse, ShowsThePixels) {
  GlimpseGrid g = one_image();
  g.paths[0].pixels[0] = 1;
  g.paths[0].pixels[1] = std::nanf("");
  g.paths[0].pixels[2] = 7;
  const Image image = draw_glimpses(g);
  EXPECT_EQ(image.width, 40 + 32);
  EXPECT_EQ(image.height, 40 + 32);
  EXPECT_EQ(image.at(0, 0), (Color{255, 255, 255}));
  const Color white = image.at(16, 16), black = image.at(20, 16);
  EXPECT_GT(white.g, 200);
  EXPECT_LT(black.g, 40);
  EXPECT_EQ(image.at(19, 19), white);
  EXPECT_EQ(image.at(24, 16), white);  // above 1
  EXPECT_EQ(image.at(28, 16), black);
}

TEST(Glimpse, DrawsTheSquareWhereTheGlimpseIs) {
  GlimpseGrid g = one_image();
  const Image before = draw_glimpses(g);
  g.paths[0].centres = {{5, 6}};  // x 3 to 7, y 4 to 8: pixels 28 to 44, 32 to 48 of the picture
  const Image image = draw_glimpses(g);
  ASSERT_EQ(image.rgb.size(), before.rgb.size());
  const Color blue = image.at(43, 40);
  EXPECT_GT(blue.b, blue.r);
  EXPECT_EQ(image.at(42, 40), blue);
  EXPECT_EQ(image.at(43, 47), blue);
  EXPECT_EQ(image.at(36, 47), blue);
  EXPECT_EQ(image.at(41, 44), before.at(41, 44)) << "inside is left clear";
  EXPECT_EQ(image.at(50, 40), before.at(50, 40));
  g.scales = 2;  // x 1 to 9: pixels 20 to 52
  EXPECT_FALSE(draw_glimpses(g).at(51, 40) == before.at(51, 40));
}

TEST(Glimpse, GrowsABorderForPatchesThatReachOut) {
  GlimpseGrid g = one_image();
  g.paths[0].centres = {{0.5, 5}};
  EXPECT_EQ(draw_glimpses(g).width, (10 + 2 * 2) * 4 + 32);
  g.paths[0].centres = {{-1e30, 1e30}, {1e300, -1e300}};  // the border stays small
  EXPECT_EQ(draw_glimpses(g).width, (10 + 2 * 2) * 4 + 32);
}

TEST(Glimpse, ColoursTheVerdict) {
  const auto has = [](const Image& image, bool green) {
    for (int64_t y = 60; y < image.height; ++y) {
      for (int64_t x = 0; x < image.width; ++x) {
        const Color c = image.at(x, y);
        if (green ? c.g > c.r + 60 : c.r > c.g + 60) return true;
      }
    }
    return false;
  };
  GlimpseGrid g = one_image();
  g.paths[0].label = 7;
  g.paths[0].predicted = 7;
  EXPECT_TRUE(has(draw_glimpses(g), true));
  EXPECT_FALSE(has(draw_glimpses(g), false));
  g.paths[0].predicted = 1;
  EXPECT_TRUE(has(draw_glimpses(g), false));
  EXPECT_FALSE(has(draw_glimpses(g), true));
  g.class_names = std::vector<std::string>(8, "a long name, longer than the image");
  const Image image = draw_glimpses(g);
  EXPECT_TRUE(has(image, false));
}

TEST(Glimpse, LaysOutRows) {
  GlimpseGrid g = one_image();
  g.columns = 3;
  g.paths.resize(7, g.paths[0]);
  const Image image = draw_glimpses(g);
  EXPECT_EQ(image.width, 32 + 3 * 40 + 2 * 16);
  EXPECT_EQ(image.height, 32 + 3 * 40 + 2 * 16);
}

TEST(Glimpse, SaysWhatIsWrong) {
  GlimpseGrid g = one_image();
  g.paths.clear();
  EXPECT_THAT(message_of(g), HasSubstr("no image"));
  g = one_image();
  g.zoom = 0;
  EXPECT_THAT(message_of(g), HasSubstr("zoom 0"));
  g = one_image();
  g.patch = std::nan("");
  EXPECT_THAT(message_of(g), HasSubstr("patch nan"));
  g = one_image();
  g.paths[0].pixels.pop_back();
  EXPECT_THAT(message_of(g), HasSubstr("99 pixels; 10 x 10"));
  g = one_image();
  g.paths[0].centres = {{1, 2}, {std::nan(""), 2}};
  EXPECT_THAT(message_of(g), HasSubstr("centre at (nan, 2)"));
  g = one_image();
  g.class_names = {"zero"};
  g.paths[0].predicted = 3;
  EXPECT_THAT(message_of(g), HasSubstr("class 3; 1 class names"));
}

}  // namespace
