#include "fovea/core/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fovea/core/error.h"

namespace fovea {
namespace {

class Parallel : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    before_ = threads();
    set_threads(GetParam());
  }
  void TearDown() override { set_threads(before_); }
  int before_ = 1;
};

TEST_P(Parallel, VisitsEveryChunkOnce) {
  for (int64_t n : {0, 1, 2, 7, 64, 1000}) {
    std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
    parallel_chunks(n, [&](int64_t i) { ++seen[static_cast<size_t>(i)]; });
    for (auto& s : seen) EXPECT_EQ(s, 1);
  }
}

TEST_P(Parallel, BordersDependOnTheSizeAlone) {
  std::mutex mutex;
  std::set<std::pair<int64_t, int64_t>> borders;
  parallel_for(1000, 300, [&](int64_t b, int64_t e) {
    const std::lock_guard lock(mutex);
    borders.emplace(b, e);
  });
  EXPECT_EQ(borders,
            (std::set<std::pair<int64_t, int64_t>>{{0, 300}, {300, 600}, {600, 900}, {900, 1000}}));
  int calls = 0;
  parallel_for(5, 0, [&](int64_t b, int64_t e) {
    const std::lock_guard lock(mutex);
    ++calls;
    EXPECT_EQ(e, b + 1);
  });
  EXPECT_EQ(calls, 5);
}

TEST_P(Parallel, LoopsNest) {
  std::atomic<int64_t> total{0};
  parallel_chunks(8, [&](int64_t i) {
    std::vector<int64_t> local(50);  // scratch of this task: no other may touch it meanwhile
    parallel_chunks(50, [&](int64_t j) {
      std::atomic<int64_t> inner{0};
      parallel_for(100, 10, [&](int64_t b, int64_t e) { inner += e - b; });
      local[static_cast<size_t>(j)] = i * j + inner;
    });
    total += std::accumulate(local.begin(), local.end(), int64_t{0});
  });
  EXPECT_EQ(total, 28 * 1225 + 8 * 50 * 100);
}

TEST_P(Parallel, TheLowestExceptionWins) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran{0};
    try {
      parallel_chunks(64, [&](int64_t i) {
        ++ran;
        if (i % 10 == 7) throw ValueError("chunk " + std::to_string(i));
      });
      FAIL();
    } catch (const ValueError& e) {
      EXPECT_STREQ(e.what(), "chunk 7");
    }
    EXPECT_EQ(ran, 64) << "all bodies still run";
  }
  parallel_chunks(8, [](int64_t) {});  // usable afterwards
}

TEST_P(Parallel, ExceptionsCrossNestedLoops) {
  EXPECT_THROW(parallel_chunks(4,
                               [&](int64_t i) {
                                 parallel_chunks(4, [&](int64_t j) {
                                   if (i == 2 && j == 3) throw IndexError("inner");
                                 });
                               }),
               IndexError);
}

// Denormals count as zero inside, on the serial path as on the threads, and not outside.
TEST_P(Parallel, DenormalsAreFlushedInsideAndKeptOutside) {
  volatile float tiny = std::numeric_limits<float>::min();
  const auto halved = [&] { return static_cast<float>(tiny * 0.5f); };
  ASSERT_GT(halved(), 0);
  for (int64_t chunks : {1, 2, 64}) {
    std::atomic<int> flushed{0};
    parallel_chunks(chunks, [&](int64_t) { flushed += halved() == 0; });
#if defined(__x86_64__) || defined(__aarch64__)
    EXPECT_EQ(flushed, chunks);
#endif
    EXPECT_GT(halved(), 0) << "not restored";
  }
  try {
    parallel_chunks(2, [](int64_t) { throw ValueError("on the way"); });
  } catch (const Error&) {
  }
  EXPECT_GT(halved(), 0) << "not restored after an exception";
  {
    const FlushDenormals outer;
    const FlushDenormals inner;
    EXPECT_EQ(halved(), 0);
  }
  EXPECT_GT(halved(), 0);
}

TEST_P(Parallel, WorksFromSeveralThreadsAtOnce) {
  std::vector<std::thread> crew;
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < 4; ++t) {
    crew.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        parallel_for(1000, 7, [&](int64_t b, int64_t e) { sum += e - b; });
      }
    });
  }
  for (auto& c : crew) c.join();
  EXPECT_EQ(sum, 4 * 20 * 1000);
}

INSTANTIATE_TEST_SUITE_P(Threads, Parallel, ::testing::Values(1, 2, 8));

// Eight bodies that wait for each other: fewer threads than eight would never meet.
TEST(ParallelThreads, EightReallyRun) {
  const int before = threads();
  set_threads(8);
  EXPECT_EQ(threads(), 8);
  std::atomic<int> arrived{0};
  std::atomic<bool> met{true};
  parallel_chunks(8, [&](int64_t) {
    ++arrived;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 8 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    if (arrived < 8) met = false;
  });
  EXPECT_TRUE(met) << arrived << " arrived";
  set_threads(before);
}

TEST(ParallelThreads, OneMeansTheCaller) {
  const int before = threads();
  set_threads(1);
  const auto me = std::this_thread::get_id();
  parallel_chunks(16, [&](int64_t) { EXPECT_EQ(std::this_thread::get_id(), me); });
  set_threads(before);
}

TEST(ParallelThreads, CountsOutOfReasonAreRefused) {
  EXPECT_THROW(set_threads(0), ValueError);
  EXPECT_THROW(set_threads(-1), ValueError);
  EXPECT_THROW(set_threads(100000), ValueError);
}

TEST(ParallelThreads, TheNumberMayChangeWhileALoopRuns) {
  const int before = threads();
  std::thread changer([] {
    for (int i = 0; i < 50; ++i) set_threads(1 + i % 8);
  });
  for (int i = 0; i < 50; ++i) {
    std::atomic<int64_t> n{0};
    parallel_chunks(32, [&](int64_t) { ++n; });
    EXPECT_EQ(n, 32);
  }
  changer.join();
  set_threads(before);
}

TEST(Grain, IsNeverBelowOne) {
  EXPECT_EQ(grain_for(1), 32768);
  EXPECT_EQ(grain_for(0), 32768);
  EXPECT_EQ(grain_for(100), 327);
  EXPECT_EQ(grain_for(1 << 30), 1);
}

}  // namespace
}  // namespace fovea
