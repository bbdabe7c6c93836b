#include "fovea/io/idx.h"

#include <random>

#include "idx_bytes.h"
#include "temp_dir.h"

namespace {

using namespace fovea;
using fovea::testing::gzip;
using fovea::testing::idx_header;
using fovea::testing::message_of;
using fovea::testing::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Idx, ReadsRawAndGzippedUnderAnyName) {
  const TempDir dir;
  const std::string file = idx_header({2, 1, 3}) + std::string("\x00\x01\x02\x03\x80\xff", 6);
  for (const std::string& path : {dir.put("raw", file), dir.put("raw.gz", file),
                                  dir.put("packed", gzip(file)), dir.put("p.gz", gzip(file))}) {
    const IdxData data = read_idx(path);
    EXPECT_EQ(data.shape, Shape({2, 1, 3}));
    EXPECT_THAT(data.bytes, ElementsAre(0, 1, 2, 3, 128, 255));
  }
  EXPECT_EQ(read_idx(dir.put("none", idx_header({0}))).bytes.size(), 0u);
  EXPECT_EQ(read_idx(dir.put("none", idx_header({5, 0, 7}))).shape, Shape({5, 0, 7}));
}

TEST(Idx, ConvertsImagesAndLabels) {
  const TempDir dir;
  const std::string pixels =
      dir.put("x", idx_header({1, 2, 2}) + std::string("\x00\x33\x80\xff", 4));
  const Tensor images = idx_images(pixels);
  EXPECT_EQ(images.shape(), Shape({1, 2, 2}));
  EXPECT_EQ(images.to_vector<float>(),
            (std::vector<float>{0.0f, 51.0f / 255.0f, 128.0f / 255.0f, 1.0f}));
  const std::string classes = dir.put("y", idx_header({3}) + std::string("\x07\x00\xff", 3));
  EXPECT_EQ(idx_labels(classes).to_vector<int64_t>(), (std::vector<int64_t>{7, 0, 255}));
  EXPECT_THAT(message_of<IoError>([&] { (void)idx_images(classes); }), HasSubstr("rank 3"));
  EXPECT_THAT(message_of<IoError>([&] { (void)idx_labels(pixels); }), HasSubstr("rank 1"));
}

TEST(Idx, SaysWhatIsWrong) {
  const TempDir dir;
  const auto expect = [&](const std::string& bytes, const std::string& part) {
    const std::string path = dir.put("bad", bytes);
    EXPECT_THAT(message_of<IoError>([&] { (void)read_idx(path); }),
                AllOf(HasSubstr(path), HasSubstr(part)));
  };
  using namespace std::string_literals;
  const std::string image(28 * 28, 'x');
  std::string ten;
  for (int i = 0; i < 10; ++i) ten += image;
  expect("", "has 0 bytes");
  expect("\0\0\x08"s, "has 3 bytes");
  expect("\0\0\x08\x03\0\0"s, "has 6 bytes; its header of rank 3 alone takes 16");
  expect(idx_header({60000, 28, 28}) + ten, "(10 of 60000 items); the file is cut off");
  expect(idx_header({60000, 28, 28}) + ten, "47040000 bytes after the header, but has 7840");
  expect(idx_header({9, 28, 28}) + ten, "bytes follow the data");
  expect(idx_header({0}) + "x", "bytes follow the data");
  expect("<!DOCTYPE html><html>404</html>", "web page");
  expect("\n  <html>", "web page");
  expect(gzip("<!DOCTYPE html>"), "web page");
  expect(gzip(gzip(idx_header({1}) + "x")), "still compressed after one decompression");
  expect("PK\x03\x04...", "zip archive");
  expect("version https://git-lfs.github.com/spec/v1", "Git LFS");
  expect("\x89PNG", "begins with 89 50 4E 47");
  expect(idx_header({1}, 0x0D) + "abcd", "type 0D (32-bit floats)");
  expect(idx_header({1}, 0x42) + "abcd", "type 42 (unknown)");
  expect("\0\0\x08\0"s, "rank 0");
  expect(idx_header({1, 1, 1, 1, 1, 1, 1, 1, 1}) + "x", "rank 9");
  const uint32_t big = 0xFFFFFFFF;
  expect(idx_header({big, big, big}) + "x", "more elements than a file can hold");
  expect(idx_header({big, big, 4}) + "x", "more elements than a file can hold");
  expect(idx_header({big, big}) + "x", "more elements");
  expect(idx_header({0, big, big}), "more elements");  // a size of 0 excuses no other
  expect(idx_header({big, big, 0}), "more elements");
  EXPECT_THAT(message_of<IoError>([&] { (void)read_idx(dir / "none"); }),
              AllOf(HasSubstr(dir / "none"), HasSubstr("No such file")));
}

TEST(Idx, SurvivesMutations) {
  const TempDir dir;
  const std::string raw = idx_header({3, 4, 5}) + std::string(60, 'p');
  const std::string packed = gzip(raw);
  std::mt19937 random(1);
  int values = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = round % 2 ? raw : packed;
    const unsigned changes = random() % 3 + 1;
    for (unsigned c = 0; c < changes; ++c) {
      const size_t at = random() % std::min<size_t>(bytes.size(), 24);
      const auto byte = static_cast<char>(random());
      switch (random() % 4) {
        case 0:
          bytes[at] = byte;
          break;
        case 1:
          bytes[at] = static_cast<char>(random() % 2 ? 0 : 0xFF);
          break;
        case 2:
          bytes.erase(at, 1);
          break;
        default:
          bytes.insert(at, 1, byte);
      }
      if (random() % 8 == 0) bytes.resize(random() % (bytes.size() + 1));
      if (bytes.empty()) bytes = "\x1f";
    }
    try {
      const IdxData data = read_idx(dir.put("m", bytes));
      EXPECT_EQ(data.shape.numel(), static_cast<int64_t>(data.bytes.size()));
      ++values;
    } catch (const IoError&) {
      // anything else fails the test
    }
  }
  EXPECT_GT(values, 0);
}

}  // namespace
