// What a checkpoint remembers of the flags of its run.
#include "examples/common/recorded_flags.h"

#include <gtest/gtest.h>

#include "fovea/core/error.h"

namespace fovea::examples {
namespace {

struct Settings {
  double lr = 0.1;
  int64_t beams = 4;
  std::string file = "a";

  RecordedFlags recorded() {
    return RecordedFlags("p").add("lr", lr).add_free("beams", beams).add_free("file", file);
  }
};

TEST(RecordedFlags, ComeBack) {
  Settings before{.lr = 1.0 / 3, .beams = 7, .file = "é \"b\""}, after;
  after.recorded().read(before.recorded().to_metadata(), "FILE");
  EXPECT_EQ(after.lr, before.lr);
  EXPECT_EQ(after.beams, 7);
  EXPECT_EQ(after.file, before.file);
}

TEST(RecordedFlags, OnlyFreeOnesMayDiffer) {
  Settings before, after{.lr = 0.1, .beams = 1, .file = "b"};
  EXPECT_EQ(after.recorded().conflict(before.recorded()), "");
  after.lr = 0.2;
  EXPECT_EQ(after.recorded().conflict(before.recorded()), "--lr is 0.2, was 0.1");
}

TEST(RecordedFlags, AFileMayBeOlderThanAFreeFlag) {
  Settings s;
  s.recorded().read({{"program", "p"}, {"flags", R"({"lr": 2, "file": "x"})"}}, "FILE");
  EXPECT_EQ(s.lr, 2);
  EXPECT_EQ(s.beams, 4);
  EXPECT_EQ(s.file, "x");
  EXPECT_THROW(s.recorded().read({{"program", "p"}, {"flags", R"({"beams": 2})"}}, "FILE"),
               IoError);
}

TEST(RecordedFlags, DoNotEndAtAZeroByte) {
  Settings s;
  Metadata metadata = s.recorded().to_metadata();
  metadata["flags"] += std::string("\0garbage", 8);
  EXPECT_THROW(s.recorded().read(metadata, "FILE"), IoError);
}

TEST(RecordedFlags, OneThatIsNotUtf8IsNamed) {
  Settings s{.lr = 1, .beams = 1, .file = "a\xff"};
  try {
    (void)s.recorded().to_metadata();
    FAIL() << "bytes that JSON cannot hold were taken";
  } catch (const IoError& e) {
    EXPECT_NE(std::string(e.what()).find("--file is not UTF-8"), std::string::npos) << e.what();
  }
}

TEST(RecordedFlags, AreThoseOfOneProgram) {
  Settings s;
  EXPECT_THROW(s.recorded().read({{"program", "q"}, {"flags", "{}"}}, "FILE"), IoError);
  EXPECT_THROW(s.recorded().read({}, "FILE"), IoError);
  EXPECT_THROW(s.recorded().read({{"program", "p"}, {"flags", "{"}}, "FILE"), IoError);
}

}  // namespace
}  // namespace fovea::examples
