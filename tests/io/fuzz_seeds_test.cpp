// Every seed of every fuzz target: valid files, and what fuzzing has found.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "fovea/core/allocator.h"
#include "tests/fuzz/targets.h"
#include "tests/io/temp_dir.h"

namespace fovea::fuzz {
namespace {

int64_t resident_peak() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
}

// Runs one file; whether it was read without an error.
bool replay(const Target& target, const std::filesystem::path& path) {
  const std::string bytes = testing::slurp(path.string());
  // Seeds are small, and so is what they may cost.
  constexpr int64_t kMost = int64_t{1} << 28;
  reset_peak_memory();
  const int64_t live = memory_stats().live_bytes, resident = resident_peak();
  bool read = false;
  try {
    target.run({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    read = true;
  } catch (const Error&) {
  } catch (const std::exception& e) {
    ADD_FAILURE() << path << ": " << e.what();
  }
  EXPECT_LT(memory_stats().peak_bytes - live, kMost) << path;
  EXPECT_LT(resident_peak() - resident, kMost) << path;
  return read;
}

TEST(FuzzSeeds, AreReadOrRefused) {
  const std::filesystem::path root = std::filesystem::path(FOVEA_SOURCE_DIR) / "tests/fuzz/seeds";
  for (const Target& target : kTargets) {
    int read = 0, all = 0;
    for (const auto& entry : std::filesystem::directory_iterator(root / target.name)) {
      EXPECT_LT(entry.file_size(), 8192u) << entry.path() << ": seeds are small";
      read += replay(target, entry.path()) ? 1 : 0;
      ++all;
    }
    EXPECT_GT(read, 0) << target.name << " has no valid seed";
    EXPECT_GT(all, 0) << target.name;
  }
}

}  // namespace
}  // namespace fovea::fuzz
