#include "fovea/core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "fovea/ops/ops.h"

namespace fovea {
namespace {

TEST(Random, TheStateIsTwoIntegersAndCanBePutBack) {
  Generator g(5);
  const Tensor a = randn({10}, f32, &g);
  const RandomKey here = g.state();
  const Tensor b = randn({10}, f32, &g);
  EXPECT_FALSE(equal(a, b));
  g.set_state(here);
  EXPECT_TRUE(equal(randn({10}, f32, &g), b));
  Generator again(5);
  EXPECT_TRUE(equal(randn({10}, f32, &again), a));
  Generator other(6);
  EXPECT_FALSE(equal(randn({10}, f32, &other), a));
}

TEST(Random, TheDefaultGeneratorBelongsToTheThread) {
  manual_seed(3);
  const Tensor mine = rand({4});
  Tensor theirs, seeded;
  std::thread([&] {
    theirs = rand({4});  // seed 0
    manual_seed(3);
    seeded = rand({4});
  }).join();
  EXPECT_FALSE(equal(mine, theirs));
  EXPECT_TRUE(equal(mine, seeded));
}

// A value depends on its index, not on the size of the tensor around it.
TEST(Random, ALongerTensorStartsTheSame) {
  for (DType t : {f32, f64}) {
    Generator a(1), b(1);
    const Tensor shorter = randn({1001}, t, &a), longer = randn({100003}, t, &b);
    EXPECT_TRUE(equal(shorter, longer.slice(0, 0, 1001)));
  }
}

TEST(Random, Moments) {
  Generator g(11);
  const int64_t n = 1000000;
  const Tensor u = rand({n}, f64, &g), z = randn({n}, f64, &g);
  EXPECT_NEAR(u.mean().item(), 0.5, 2e-3);
  EXPECT_NEAR(u.var().item(), 1.0 / 12, 1e-3);
  EXPECT_NEAR(z.mean().item(), 0, 4e-3);
  EXPECT_NEAR(z.var().item(), 1, 6e-3);
  EXPECT_NEAR(mean(pow(z, 3)).item(), 0, 2e-2);
  EXPECT_NEAR(mean(pow(z, 4)).item(), 3, 6e-2);
  // Neighbours are independent, within a stream and between two.
  EXPECT_NEAR(mean(z.slice(0, 1) * z.slice(0, 0, n - 1)).item(), 0, 4e-3);
  EXPECT_NEAR(mean(randn({n}, f64, &g) * z).item(), 0, 4e-3);
  EXPECT_NEAR(mean(to(bernoulli(full({n}, 0.3, f64), &g), f64)).item(), 0.3, 2e-3);
}

TEST(Random, IntegersAndPermutationsAreUniform) {
  Generator g(4);
  const int64_t n = 300000;
  const Tensor x = randint(0, 7, {n}, &g);
  for (int64_t k = 0; k < 7; ++k) {
    EXPECT_NEAR(sum(x == k).item() / static_cast<double>(n), 1.0 / 7, 3e-3) << k;
  }
  std::vector<int> first(5);
  for (int i = 0; i < 5000; ++i) ++first[static_cast<size_t>(randperm(5, &g).at({0}))];
  for (int count : first) EXPECT_NEAR(count / 5000.0, 0.2, 0.03);
}

TEST(Random, MultinomialFollowsTheWeights) {
  Generator g(9);
  const Tensor p = tensor({1.0, 0.0, 3.0, 6.0});
  const Tensor x = multinomial(p, 200000, true, &g);
  const double want[] = {0.1, 0, 0.3, 0.6};
  for (int64_t k = 0; k < 4; ++k) EXPECT_NEAR(sum(x == k).item() / 200000, want[k], 5e-3) << k;
  // Without replacement the first of two draws follows the weights as well.
  int firsts[4] = {};
  for (int i = 0; i < 4000; ++i) ++firsts[static_cast<int>(multinomial(p, 2, false, &g).at({0}))];
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(firsts[k] / 4000.0, want[k], 0.03) << k;
}

}  // namespace
}  // namespace fovea
