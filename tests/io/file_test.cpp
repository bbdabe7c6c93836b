#include "fovea/io/file.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fovea/io/line_reader.h"
#include "temp_dir.h"

namespace {

using namespace fovea;
using fovea::testing::message_of;
using fovea::testing::slurp;
using fovea::testing::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(File, ReadsWhatIsThere) {
  const TempDir dir;
  const std::string bytes = std::string("a\0b\n", 4) + std::string(100'000, 'x');
  EXPECT_EQ(read_file(dir.put("f", bytes)), bytes);
  EXPECT_EQ(read_file(dir.put("empty", "")), "");
  EXPECT_FALSE(read_file("/proc/self/maps").empty());  // says size 0
}

TEST(File, NamesWhatItCannotRead) {
  const TempDir dir;
  EXPECT_THAT(message_of<IoError>([&] { (void)read_file(dir / "none"); }),
              AllOf(HasSubstr(dir / "none"), HasSubstr("No such file")));
  EXPECT_THAT(message_of<IoError>([&] { (void)read_file(dir.path()); }),
              AllOf(HasSubstr(dir.path()), HasSubstr("is a folder")));
}

// The system would take the zero byte for the end and open another file.
TEST(File, RefusesAZeroByteInAPath) {
  const TempDir dir;
  const std::string path = dir.put("f", "old") + std::string("\0.txt", 5);
  for (const std::string& what : {message_of<IoError>([&] { (void)read_file(path); }),
                                  message_of<IoError>([&] { write_file_atomically(path, "x"); }),
                                  message_of<IoError>([&] { make_dirs(path); }),
                                  message_of<IoError>([&] { LineReader reader(path); })}) {
    EXPECT_THAT(what, HasSubstr("f\\x00.txt' holds a zero byte"));
  }
  EXPECT_EQ(slurp(dir / "f"), "old");
  EXPECT_THAT(dir.list(), ElementsAre("f"));
}

TEST(File, WritesAndReplaces) {
  const TempDir dir;
  write_file_atomically(dir / "f", "first");
  EXPECT_EQ(slurp(dir / "f"), "first");
  ::chmod((dir / "f").c_str(), 0640);
  write_file_atomically(dir / "f", "second");
  EXPECT_EQ(slurp(dir / "f"), "second");
  struct stat info {};
  ASSERT_EQ(::stat((dir / "f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  EXPECT_THAT(dir.list(), ElementsAre("f"));
}

TEST(File, LeavesNothingWithoutCommit) {
  const TempDir dir;
  dir.put("f", "old");
  {
    AtomicFile file(dir / "f");
    file.write("half of the n");
    EXPECT_EQ(slurp(dir / "f"), "old");
    EXPECT_EQ(dir.list().size(), 2u);
  }
  EXPECT_EQ(slurp(dir / "f"), "old");
  EXPECT_THAT(dir.list(), ElementsAre("f"));
}

TEST(File, FollowsLinks) {
  const TempDir dir;
  dir.put("real", "old");
  ASSERT_EQ(::symlink((dir / "real").c_str(), (dir / "link").c_str()), 0);
  write_file_atomically(dir / "link", "new");
  EXPECT_EQ(slurp(dir / "real"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
}

TEST(File, RefusesToReplaceWhatIsNoFile) {
  const TempDir dir;
  EXPECT_THAT(message_of<IoError>([&] { write_file_atomically(dir.path(), "x"); }),
              HasSubstr("is a folder"));
  EXPECT_THAT(message_of<IoError>([] { write_file_atomically("/dev/null", "x"); }),
              HasSubstr("not a regular file"));
  EXPECT_THAT(message_of<IoError>([&] { write_file_atomically(dir / "a/b", "x"); }),
              AllOf(HasSubstr(dir / "a"), HasSubstr("No such file")));
  EXPECT_TRUE(dir.list().empty());
}

TEST(File, ReportsAFullDisk) {
  // A limit on the size of files stands in for the full disk. Its own process bears it.
  const TempDir dir;
  dir.put("f", "old");
  const auto limited = [&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_file_atomically(dir / "f", std::string(5000, 'x'));
    } catch (const IoError& e) {
      const std::string what = e.what();
      ::_exit(what.find("cannot write") != std::string::npos && slurp(dir / "f") == "old" &&
                      dir.list().size() == 1
                  ? 0
                  : 1);
    }
    ::_exit(2);
  };
  EXPECT_EXIT(limited(), ::testing::ExitedWithCode(0), "");
}

TEST(File, MakesFolders) {
  const TempDir dir;
  make_dirs(dir / "a/b/c");
  make_dirs(dir / "a/b/c");
  EXPECT_TRUE(std::filesystem::is_directory(dir / "a/b/c"));
  dir.put("f", "");
  EXPECT_THAT(message_of<IoError>([&] { make_dirs(dir / "f"); }), HasSubstr(dir / "f"));
  EXPECT_THAT(message_of<IoError>([&] { make_dirs(dir / "f/g"); }), HasSubstr(dir / "f/g"));
}

}  // namespace
