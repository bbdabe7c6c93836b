#include "fovea/io/zip.h"

#include <gmock/gmock.h>

#include "temp_dir.h"
#include "zip_bytes.h"

namespace {

using namespace fovea;
using namespace fovea::testing;
using ::testing::HasSubstr;

std::vector<std::string> contents(const std::string& file) {
  std::vector<std::string> all;
  std::string buffer;
  for (const zip::Member& m : zip::read_directory(file, "here")) {
    all.emplace_back(zip::read_member(file, m, buffer, "here"));
  }
  return all;
}

TEST(Zip, GivesBackWhatItWrites) {
  const TempDir dir;
  std::string bytes;  // too irregular to deflate, and long enough for several blocks
  for (uint32_t i = 0, x = 1; i < 200'000; ++i) {
    bytes += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  }
  const std::vector<std::string> want = {"", "x", std::string(1'000'000, 'x'), bytes};
  AtomicFile file(dir / "f.zip");
  zip::Writer writer(file);
  for (const zip::Method method : {zip::kStored, zip::kDeflated}) {
    for (const std::string& content : want) writer.add("name", content, method);
  }
  writer.finish();
  file.commit();
  const auto got = contents(slurp(dir / "f.zip"));
  ASSERT_EQ(got.size(), 2 * want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i] == want[i % want.size()]) << i;
}

TEST(Zip, ChecksDeflatedSizes) {
  const auto message = [](const std::string& packed, uint64_t size) {
    // A stored member that says it is deflated.
    std::string file = ZipBytes().add("a", packed, {false, true}).str();
    const size_t entry = 38 + packed.size() + 16;
    file[8] = file[entry + 10] = 8;
    file.replace(entry + 24, 4, little(size, 4));
    return message_of<IoError>([&] { (void)contents(file); });
  };
  const std::string content(528, 'x');
  const std::string packed = deflate_of(content);
  EXPECT_THAT(message(packed, 528), HasSubstr("here: expected CRC-32"));
  EXPECT_THAT(message(packed, 527), HasSubstr(", found more"));
  EXPECT_THAT(message(packed, 0), HasSubstr(", found more"));
  EXPECT_THAT(message(packed, 529), HasSubstr("expected 529 bytes deflated to "));
  EXPECT_THAT(message(packed, 529), HasSubstr(", found 528 deflated to "));
  EXPECT_THAT(message(packed + "x", 528), HasSubstr(", found 528 deflated to "));
  EXPECT_THAT(message(packed.substr(0, packed.size() - 1), 528), HasSubstr("end comes early"));
  EXPECT_THAT(message("", 0), HasSubstr("end comes early"));
  EXPECT_THAT(message("\xff" + packed, 528), HasSubstr("damage after byte"));
  // Four gigabytes from a few bytes: refused before memory is taken.
  EXPECT_THAT(message(packed, 0xFFFFFFFE), HasSubstr("deflated, found a size of 4294967294"));
}

TEST(Zip, RefusesMembersThatShareBytes) {
  // Inside the data of 'b' stands a whole local header and data, which 'a' calls its own.
  const std::string inner = ZipBytes().add("a", "content").str();
  const size_t b = 38 + 7, data = b + 38, entry = data + inner.size();
  std::string file = ZipBytes().add("a", "content").add("b", inner).str();
  EXPECT_EQ(contents(file), (std::vector<std::string>{"content", inner}));
  file.replace(entry + 42, 4, little(data, 4));
  EXPECT_THAT(message_of<IoError>([&] { (void)contents(file); }),
              HasSubstr("here, member 'a': expected bytes of its own, found those of 'b'"));
}

}  // namespace
