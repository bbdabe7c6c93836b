#include "fovea/io/gzip.h"

#include "idx_bytes.h"
#include "temp_dir.h"

namespace {

using namespace fovea;
using fovea::testing::gzip;
using fovea::testing::message_of;
using fovea::testing::TempDir;
using ::testing::HasSubstr;

std::string noise(size_t n) {
  std::string s(n, '\0');
  uint32_t x = 1;
  for (char& c : s) c = static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  return s;
}

TEST(Gzip, ReadsPlainAndCompressedFiles) {
  const TempDir dir;
  for (size_t n : {0u, 1u, 5000u, 300'000u, 3'000'000u}) {
    const std::string bytes = noise(n);
    EXPECT_TRUE(read_maybe_gzip(dir.put("plain.gz", bytes)) == bytes) << n;
    EXPECT_TRUE(read_maybe_gzip(dir.put("compressed", gzip(bytes))) == bytes) << n;
  }
  const std::string zeros(20'000'000, '\0');
  EXPECT_TRUE(read_maybe_gzip(dir.put("zeros.gz", gzip(zeros))) == zeros);
}

TEST(Gzip, ReadsStreamsInARow) {
  const TempDir dir;
  EXPECT_EQ(read_maybe_gzip(dir.put("f.gz", gzip("one ") + gzip("") + gzip("two"))), "one two");
}

TEST(Gzip, RefusesDamage) {
  const TempDir dir;
  const std::string good = gzip(noise(5000));
  const auto message = [&](const std::string& bytes) {
    const std::string path = dir.put("f.gz", bytes);
    const std::string m = message_of<IoError>([&] { (void)read_maybe_gzip(path); });
    EXPECT_THAT(m, HasSubstr(path));
    return m;
  };
  for (size_t n : {2ul, 5ul, 10ul, 100ul, good.size() - 8, good.size() - 1}) {
    EXPECT_THAT(message(good.substr(0, n)), HasSubstr("truncated")) << n;
  }
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
  EXPECT_THAT(message(flipped), HasSubstr("damaged"));
  std::string checksum = good;
  checksum[good.size() - 6] = static_cast<char>(checksum[good.size() - 6] ^ 1);
  EXPECT_THAT(message(checksum), HasSubstr("damaged"));
  EXPECT_THAT(message(good + "tail"), HasSubstr("4 bytes follow"));
}

TEST(Gzip, StopsAtTheLimit) {
  const TempDir dir;
  const std::string path = dir.put("bomb.gz", gzip(std::string(10'000'000, 'x')));
  EXPECT_THAT(message_of<IoError>([&] { (void)read_maybe_gzip(path, 1'000'000); }),
              HasSubstr("more than 1000000 bytes"));
  EXPECT_EQ(read_maybe_gzip(path, 10'000'000).size(), 10'000'000u);
}

}  // namespace
