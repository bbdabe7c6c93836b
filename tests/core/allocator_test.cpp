#include "fovea/core/allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 64 == 0; }

TEST(Allocator, EverythingIsAlignedAndApart) {
  std::vector<std::pair<char*, size_t>> blocks;
  for (size_t n : {0, 1, 63, 64, 65, 100, 255, 256, 257, 1000, 4096, 4097, 65536, 100000, 1 << 20,
                   (1 << 20) + 1, 5 << 20}) {
    for (int k = 0; k < 3; ++k) {
      auto* p = static_cast<char*>(detail::allocate(n));
      EXPECT_TRUE(aligned(p)) << n;
      std::memset(p, static_cast<int>(blocks.size()), n);
      blocks.emplace_back(p, n);
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto [p, n] = blocks[i];
    for (size_t j = 0; j < n; j += 61) ASSERT_EQ(p[j], static_cast<char>(i));
    detail::deallocate(p, n);
  }
}

TEST(Allocator, TensorsOfEverySizeAreAligned) {
  for (int64_t n : {1, 3, 16, 100, 1023, 1024, 1025, 100000, 1000000}) {
    EXPECT_TRUE(aligned(Tensor::empty({n}).raw())) << n;
    EXPECT_TRUE(aligned(Tensor::empty({n}, boolean).raw())) << n;
  }
}

TEST(Allocator, CountersReturnToTheBaseline) {
  const MemoryStats before = memory_stats();
  {
    const Tensor small = Tensor::empty({3}), large = Tensor::empty({1 << 20});
    const Tensor leaf = ones({4}).requires_grad_();
    const Tensor y = sum(leaf * 2);
    const MemoryStats now = memory_stats();
    EXPECT_GE(now.live_bytes - before.live_bytes, int64_t{4} << 20);
    EXPECT_GE(now.live_tensors - before.live_tensors, 4);
    EXPECT_EQ(now.live_nodes - before.live_nodes, 3);
  }
  const MemoryStats after = memory_stats();
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  EXPECT_EQ(after.live_nodes, before.live_nodes);
  EXPECT_EQ(after.live_tensors, before.live_tensors);
}

TEST(Allocator, AnotherThreadMayFree) {
  const int64_t before = memory_stats().live_bytes;
  for (int round = 0; round < 20; ++round) {
    std::vector<Tensor> made;
    for (int i = 0; i < 200; ++i) made.push_back(Tensor::empty({i * 17 + 1}));
    std::thread([taken = std::move(made)]() mutable { taken.clear(); }).join();
    std::vector<Tensor> theirs;
    std::thread([&] {
      for (int i = 0; i < 200; ++i) theirs.push_back(Tensor::empty({i * 31 + 1}));
    }).join();
  }
  EXPECT_EQ(memory_stats().live_bytes, before);
}

TEST(Allocator, ThreadsThatFreeEachOthersBlocksAgreeInTheEnd) {
  const int64_t before = memory_stats().live_bytes;
  std::vector<std::vector<Tensor>> shared(4);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::thread> crew;
    for (int t = 0; t < 4; ++t) {
      crew.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) shared[t].push_back(Tensor::empty({(i * 7 + t) % 300 + 1}));
      });
    }
    for (auto& c : crew) c.join();
    crew.clear();
    for (int t = 0; t < 4; ++t) crew.emplace_back([&, t] { shared[(t + 1) % 4].clear(); });
    for (auto& c : crew) c.join();
  }
  EXPECT_EQ(memory_stats().live_bytes, before);
}

TEST(Allocator, PeakRemembersWhatIsGone) {
  reset_peak_memory();
  const int64_t base = memory_stats().peak_bytes;
  EXPECT_EQ(base, memory_stats().live_bytes);
  { const Tensor big = Tensor::empty({int64_t{8} << 20}, boolean); }
  const MemoryStats m = memory_stats();
  EXPECT_GE(m.peak_bytes, base + (int64_t{8} << 20) - (64 << 10));
  EXPECT_EQ(m.live_bytes, base);
  EXPECT_GT(m.cached_bytes, 0);
  empty_cache();
  EXPECT_EQ(memory_stats().cached_bytes, 0);
  reset_peak_memory();
  EXPECT_EQ(memory_stats().peak_bytes, base);
}

TEST(Allocator, RefusesWhatNoMachineHas) {
  EXPECT_THROW((void)detail::allocate(size_t{1} << 60), Error);
  try {
    (void)Tensor::empty({int64_t{1} << 55});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("bytes"), std::string::npos) << e.what();
  }
}

TEST(Allocator, StatsReadAsOneLine) {
  const std::string s = memory_stats().str();
  EXPECT_NE(s.find("live"), std::string::npos);
  EXPECT_NE(s.find("nodes"), std::string::npos);
  EXPECT_EQ(s.find('\n'), std::string::npos);
}

TEST(Allocator, ScratchIsFreedAtTheEndOfItsScope) {
  const int64_t before = memory_stats().live_bytes;
  {
    Scratch<double> s(1000);
    s[999] = 1;
    EXPECT_TRUE(aligned(s.data()));
    EXPECT_GE(memory_stats().live_bytes - before, 8000);
  }
  EXPECT_EQ(memory_stats().live_bytes, before);
}

}  // namespace
}  // namespace fovea
