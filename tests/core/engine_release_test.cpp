// What a graph keeps, and when it lets go.
#include <gtest/gtest.h>
#include <pthread.h>

#include <cmath>

#include "fovea/core/allocator.h"
#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "tests/core/counted_op.h"

namespace fovea {
namespace {

using testing::leaf;
using testing::message_of;

Tensor chain(const Tensor& x, int64_t n) {
  Tensor y = x;
  for (int64_t i = 0; i < n; ++i) y = y + y * 1e-6;
  return y;
}

// Runs f on a thread whose stack is this small.
template <class F>
void on_stack_of(size_t bytes, F f) {
  pthread_attr_t attr;
  ASSERT_EQ(pthread_attr_init(&attr), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attr, bytes), 0);
  pthread_t thread;
  const auto run = [](void* p) -> void* {
    (*static_cast<F*>(p))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attr, run, &f), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attr);
}

class DeepChain : public ::testing::Test {
 protected:
  void SetUp() override { before_ = memory_stats(); }
  void TearDown() override {
    const MemoryStats after = memory_stats();
    EXPECT_EQ(after.live_nodes, before_.live_nodes);
    EXPECT_EQ(after.live_tensors, before_.live_tensors);
    EXPECT_EQ(after.live_bytes, before_.live_bytes);
  }
  MemoryStats before_;
};

TEST_F(DeepChain, HundredThousandStepsBackward) {
  const Tensor x = leaf(1);
  const Tensor y = chain(x, 100000);
  y.backward();
  EXPECT_NEAR(y.item(), 1.1051709, 1e-7);
  EXPECT_NEAR(x.grad().item(), 1.1051709, 1e-7);
}

TEST_F(DeepChain, AMillionStepsBackwardAndDrop) {
  const Tensor x = leaf(1);
  {
    const Tensor y = chain(x, 1000000);
    EXPECT_GT(memory_stats().live_nodes - before_.live_nodes, 1000000);
    y.backward();
  }
  EXPECT_NEAR(x.grad().item(), std::pow(1 + 1e-6, 1000000), 1e-9);
}

TEST_F(DeepChain, AMillionStepsDroppedUnused) {
  const Tensor x = leaf(1);
  { const Tensor y = chain(x, 1000000); }
  EXPECT_EQ(memory_stats().live_nodes - before_.live_nodes, 1);
}

TEST_F(DeepChain, FitsIntoASmallStack) {
  on_stack_of(256 << 10, [] {
    const Tensor x = leaf(1);
    chain(x, 100000).backward();
    EXPECT_NEAR(x.grad().item(), 1.1051709, 1e-7);
    { const Tensor dropped = chain(x, 100000); }
    Tensor y = x;
    for (int i = 0; i < 10000; ++i) y = y + tanh(y) * 1e-4;
    EXPECT_TRUE(grad(y, {x}, {.create_graph = true})[0].requires_grad());
  });
}

// Saved inputs hold tensors that hold nodes: release follows those as well.
TEST_F(DeepChain, OfSavedInputsIsReleasedWithoutRecursion) {
  on_stack_of(256 << 10, [] {
    const Tensor x = leaf(1);
    Tensor y = x;
    for (int i = 0; i < 100000; ++i) y = y * x;
    for (int i = 0; i < 50000; ++i) y = tanh(y);
    y = Tensor();
  });
}

TEST_F(DeepChain, GradOfGradOfAChain) {
  const Tensor x = leaf(1);
  Tensor y = x;
  for (int i = 0; i < 20000; ++i) y = y * 1.00001;
  const Tensor g = grad(y * y, {x}, {.create_graph = true})[0];
  g.backward();
  EXPECT_NEAR(x.grad().item(), 2 * std::pow(1.00001, 40000), 1e-6);
}

TEST(Release, ASecondBackwardNeedsRetainGraph) {
  const Tensor x = leaf(3);
  const Tensor y = x * x;
  y.backward();
  const std::string m = message_of<GraphError>([&] { y.backward(); });
  EXPECT_NE(m.find("mul"), std::string::npos) << m;
  EXPECT_NE(m.find("retain_graph"), std::string::npos) << m;
  EXPECT_EQ(x.grad().item(), 6) << "the failed call added nothing";
  EXPECT_THROW((void)grad(y, {x}), GraphError);
}

TEST(Release, SoDoGraphsThatShareAPart) {
  const Tensor x = leaf(3);
  const Tensor h = tanh(x);
  (h * 2).backward();
  EXPECT_THROW((h * 3).backward(), GraphError);
  const Tensor fresh = tanh(x);
  (fresh * 2).backward({}, true);
  (fresh * 3).backward();
}

TEST(Release, SavedTensorsGoAsTheWalkPasses) {
  const int64_t before = memory_stats().live_bytes;
  const Tensor x = ones({1 << 16}, f64).requires_grad_();
  const int64_t one = memory_stats().live_bytes - before;
  Tensor y = x;
  for (int i = 0; i < 8; ++i) y = tanh(y);
  const Tensor loss = sum(y);
  y = Tensor();
  EXPECT_GE(memory_stats().live_bytes - before, 8 * one);
  reset_peak_memory();
  const int64_t start = memory_stats().live_bytes;
  loss.backward();
  EXPECT_LE(memory_stats().peak_bytes, start + 3 * one + (1 << 17));
  EXPECT_LE(memory_stats().live_bytes - before, 2 * one + (1 << 15)) << "x and its gradient";
}

TEST(Release, RetainedGraphsKeepTheirSaves) {
  const Tensor x = leaf(0.5);
  const Tensor y = tanh(x);
  y.backward({}, true);
  y.backward({}, true);
  const double g = 1 - std::tanh(0.5) * std::tanh(0.5);
  EXPECT_DOUBLE_EQ(x.grad().item(), 2 * g);
}

// create_graph keeps the graph, and the gradients keep it in turn: no cycle may be left behind.
TEST(Release, CreateGraphLeavesNoCycle) {
  const MemoryStats before = memory_stats();
  {
    const Tensor x = ones({4}, f64).requires_grad_();
    const Tensor y = sum(softmax(tanh(x)) * exp(x));
    const Tensor g = grad(y, {x}, {.create_graph = true})[0];
    const Tensor gg = grad(sum(g), {x}, {.create_graph = true})[0];
    sum(gg).backward();
  }
  EXPECT_EQ(memory_stats().live_nodes, before.live_nodes);
  EXPECT_EQ(memory_stats().live_bytes, before.live_bytes);
}

}  // namespace
}  // namespace fovea
