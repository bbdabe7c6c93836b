#include "fovea/io/line_reader.h"

#include <zlib.h>

#include "tests/io/temp_dir.h"

namespace fovea {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using testing::TempDir;

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  for (LineReader reader(path); reader.next();) {
    lines.emplace_back(reader.line());
    EXPECT_EQ(reader.number(), static_cast<int64_t>(lines.size()));
  }
  return lines;
}

std::string gzip_file(const TempDir& dir, const std::string& text) {
  const gzFile file = ::gzopen((dir / "text.gz").c_str(), "wb");
  EXPECT_EQ(::gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  EXPECT_EQ(::gzclose(file), Z_OK);
  return testing::slurp(dir / "text.gz");
}

using Lines = std::vector<std::string>;

TEST(LineReader, EndsOfLinesAndFiles) {
  const TempDir dir;
  EXPECT_EQ(lines_of(dir.put("f", "")), Lines{});
  EXPECT_EQ(lines_of(dir.put("f", "one")), Lines({"one"}));
  EXPECT_EQ(lines_of(dir.put("f", "a\nb\n")), Lines({"a", "b"}));
  EXPECT_EQ(lines_of(dir.put("f", "\n\na")), Lines({"", "", "a"}));
  EXPECT_EQ(lines_of(dir.put("f", "a\r\nb\rc\r\r\n\r\nd\r")), Lines({"a", "b\rc\r", "", "d"}));
  EXPECT_EQ(lines_of(dir.put("f", "\xef\xbb\xbfx\n\xef\xbb\xbfy\n")),
            Lines({"x", "\xef\xbb\xbfy"}));
  EXPECT_EQ(lines_of(dir.put("f", std::string("a\0b\n", 4))), Lines({std::string("a\0b", 3)}));
}

TEST(LineReader, LoneCarriageReturnsEndLinesWhereNothingElseDoes) {
  const TempDir dir;
  EXPECT_EQ(lines_of(dir.put("f", "a\rb\r")), Lines({"a", "b"}));
  EXPECT_EQ(lines_of(dir.put("f", "\xef\xbb\xbf\ra\r\rb")), Lines({"", "a", "", "b"}));
  EXPECT_EQ(lines_of(dir.put("f", "a\r")), Lines({"a"}));
  // A file whose lines end otherwise keeps them: its lines are those of wc -l.
  EXPECT_EQ(lines_of(dir.put("f", "a\rb\nc\rd\n")), Lines({"a\rb", "c\rd"}));
  // Beyond the buffer as well, and never between the two bytes of one end.
  constexpr size_t kBuffer = 1 << 16;
  const std::string a(kBuffer - 1, 'a'), b(kBuffer, 'b'), c(3 * kBuffer, 'c');
  EXPECT_EQ(lines_of(dir.put("f", a + "\r\n" + b + "\rb\n")), Lines({a, b + "\rb"}));
  EXPECT_EQ(lines_of(dir.put("f", "x\r" + b + "\r" + c + "\r" + a + "\ry")),
            Lines({"x", b, c, a, "y"}));
}

// Lines that end before, at and after the border of the buffer, and ones of many buffers.
TEST(LineReader, LinesAcrossTheBuffer) {
  const TempDir dir;
  constexpr size_t kBuffer = 1 << 16;
  for (const size_t n :
       {kBuffer - 2, kBuffer - 1, kBuffer, kBuffer + 1, 3 * kBuffer, 5 * kBuffer}) {
    const std::string first(n, 'a'), second(n, 'b');
    EXPECT_EQ(lines_of(dir.put("f", first + "\r\n" + second + "\nc")), Lines({first, second, "c"}))
        << n;
  }
}

TEST(LineReader, HoldsABufferNotTheFile) {
  const TempDir dir;
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += "ten bytes\n";
  LineReader reader(dir.put("f", text));
  int64_t most = 0;
  while (reader.next()) most = std::max(most, reader.memory());
  EXPECT_EQ(reader.number(), 400'000);
  EXPECT_LT(most, 70'000);
}

TEST(LineReader, ReadsGzip) {
  const TempDir dir;
  const std::string text(200'000, 'x'), bytes = gzip_file(dir, text + "\nlast");
  EXPECT_EQ(lines_of(dir / "text.gz"), Lines({text, "last"}));
  // Cut anywhere after its head, it is an error and not a shorter file.
  for (const size_t n : {size_t{12}, bytes.size() / 2, bytes.size() - 9, bytes.size() - 1}) {
    EXPECT_THAT(message_of<IoError>([&] { lines_of(dir.put("cut.gz", bytes.substr(0, n))); }),
                AllOf(HasSubstr("cut.gz"), HasSubstr("cut off")))
        << n;
  }
  std::string damaged = bytes;
  damaged[damaged.size() - 6] ^= 1;  // of the checksum
  EXPECT_THAT(message_of<IoError>([&] { lines_of(dir.put("bad.gz", damaged)); }),
              HasSubstr("damaged"));
}

TEST(LineReader, NamesWhatItCannotRead) {
  const TempDir dir;
  EXPECT_THAT(message_of<IoError>([&] { LineReader(dir / "none"); }),
              AllOf(HasSubstr("none'"), HasSubstr("No such file")));
  EXPECT_THAT(message_of<IoError>([&] { LineReader(dir.path()); }), HasSubstr("folder"));
  LineReader reader(dir.put("f", "a\nb\n"));
  reader.next();
  reader.next();
  EXPECT_EQ(reader.where(), "'" + dir.path() + "/f' line 2");
}

}  // namespace
}  // namespace fovea
