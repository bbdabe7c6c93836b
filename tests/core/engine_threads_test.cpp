// Graphs and threads: what may run at once, and what is refused instead of going wrong.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "tests/core/counted_op.h"

namespace fovea {
namespace {

using testing::leaf;
using testing::with_gradient;

TEST(EngineThreads, TwoBackwardsThroughOneGraphAreRefused) {
  const Tensor x = leaf(3);
  std::promise<void> inside, leave;
  std::atomic<bool> first{true};
  const Tensor h = with_gradient(x * 2, [&](const Tensor& g) {
    if (first.exchange(false)) {
      inside.set_value();
      EXPECT_EQ(leave.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
    }
    return g;
  });
  const Tensor y = h * 5, z = h * 7;
  std::thread other([&] { y.backward({}, true); });
  inside.get_future().wait();
  EXPECT_THROW(z.backward({}, true), GraphError);  // shares h
  EXPECT_THROW((x * 4).backward(), GraphError);    // shares the leaf alone
  EXPECT_THROW((void)grad(y, {x}, {.retain_graph = true}), GraphError);
  const Tensor apart = leaf(1);
  (apart * 2).backward();
  EXPECT_EQ(apart.grad().item(), 2);
  leave.set_value();
  other.join();
  EXPECT_EQ(x.grad().item(), 10);
  z.backward({}, true);  // nothing stays locked
  EXPECT_EQ(x.grad().item(), 24);
}

TEST(EngineThreads, SeparateGraphsRunAtOnce) {
  std::vector<std::thread> crew;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    crew.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const Tensor x = full({64}, 0.01 * t, f64).requires_grad_();
        Tensor y = x;
        for (int k = 0; k < 20; ++k) y = tanh(y) + x;
        sum(y).backward();
        right += x.grad().defined();
      }
    });
  }
  for (auto& c : crew) c.join();
  EXPECT_EQ(right, 200);
}

TEST(EngineThreads, ForwardOnSharedWeightsIsSafe) {
  const Tensor w = full({16, 16}, 0.1, f64).requires_grad_();
  std::vector<std::thread> crew;
  std::vector<double> loss(4);
  for (int t = 0; t < 4; ++t) {
    crew.emplace_back([&, t] {
      for (int i = 0; i < 30; ++i) loss[t] = sum(tanh(matmul(w, w))).item();
    });
  }
  for (auto& c : crew) c.join();
  for (double l : loss) EXPECT_EQ(l, loss[0]);
}

TEST(EngineThreads, GradModeIsPerThread) {
  const NoGrad scope;
  bool theirs = false;
  std::thread([&] { theirs = grad_recording(); }).join();
  EXPECT_TRUE(theirs);
  EXPECT_FALSE(grad_recording());
}

TEST(EngineThreads, AGraphMayBeDroppedElsewhere) {
  const int64_t before = memory_stats().live_nodes;
  for (int i = 0; i < 20; ++i) {
    Tensor y = leaf(1);
    for (int k = 0; k < 1000; ++k) y = y * 1.01;
    std::thread([taken = std::move(y)]() mutable {
      taken.backward();
      taken = Tensor();
    }).join();
  }
  EXPECT_EQ(memory_stats().live_nodes, before);
}

}  // namespace
}  // namespace fovea
