#include "fovea/io/png.h"

#include <png.h>

#include <random>

#include "temp_dir.h"

namespace {

using namespace fovea;
using fovea::testing::message_of;
using fovea::testing::slurp;
using fovea::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<uint8_t> decode(const std::string& bytes, int64_t* width, int64_t* height,
                            int channels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()))
      << image.message;
  EXPECT_EQ(image.format, channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB);
  *width = image.width;
  *height = image.height;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(image));
  EXPECT_TRUE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr)) << image.message;
  return pixels;
}

TEST(Png, ComesBackEqual) {
  std::mt19937 random(1);
  const int64_t sizes[][2] = {{1, 1}, {7, 3}, {1, 500}, {640, 480}};
  for (int channels : {1, 3}) {
    for (const auto& [w, h] : sizes) {
      std::vector<uint8_t> pixels(static_cast<size_t>(w * h * channels));
      for (uint8_t& p : pixels) p = static_cast<uint8_t>(random());
      int64_t width = 0, height = 0;
      EXPECT_EQ(decode(encode_png(pixels.data(), w, h, channels), &width, &height, channels),
                pixels);
      EXPECT_EQ(width, w);
      EXPECT_EQ(height, h);
    }
  }
}

TEST(Png, WritesAFile) {
  const TempDir dir;
  const uint8_t pixels[] = {255, 0, 0, 0, 0, 255};
  write_png(dir / "p.png", pixels, 2, 1, 3);
  EXPECT_EQ(slurp(dir / "p.png"), encode_png(pixels, 2, 1, 3));
  EXPECT_THAT(dir.list(), ElementsAre("p.png"));
  EXPECT_THROW(write_png(dir / "no/p.png", pixels, 2, 1, 3), IoError);
}

TEST(Png, RefusesOddSizes) {
  const uint8_t pixel[4] = {};
  for (int64_t w : {int64_t{0}, int64_t{-1}, int64_t{1'000'001}, int64_t{1} << 40}) {
    EXPECT_THAT(message_of<ValueError>([&] { (void)encode_png(pixel, w, 1, 1); }),
                HasSubstr("encode_png: the picture is"));
    EXPECT_THROW((void)encode_png(pixel, 1, w, 1), ValueError);
  }
  EXPECT_THAT(message_of<ValueError>([&] { (void)encode_png(pixel, 1, 1, 4); }),
              HasSubstr("4 channels"));
}

}  // namespace
