// additive_scores on lengths that the case table has no room for, and what it stores.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "fovea/core/allocator.h"
#include "fovea/core/engine.h"
#include "fovea/core/node.h"
#include "fovea/core/parallel.h"
#include "fovea/core/random.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

struct Problem {
  Tensor q, k, v, upstream;
  Tensors gradients() const {
    return grad(additive_scores(q, k, v), {q, k, v}, {.upstream = upstream});
  }
};

Problem problem(int64_t batch, int64_t tq, int64_t tk, int64_t h, DType t) {
  Generator g(3);
  return {randn({batch, tq, h}, t, &g).requires_grad_(),
          randn({batch, tk, h}, t, &g).requires_grad_(), randn({h}, t, &g).requires_grad_(),
          randn({batch, tq, tk}, t, &g)};
}

// More keys, or queries, than a block of either sum holds, and numbers that no block divides.
TEST(AdditiveScores, LongSentencesFollowTheFormula) {
  for (const auto& [batch, tq, tk] : {std::array<int64_t, 3>{1, 131, 150},
                                      {1, 300, 67},
                                      {3, 130, 129},
                                      {1, 1, 2000},
                                      {17, 1100, 3}}) {
    const Problem p = problem(batch, tq, tk, 9, f64);
    const Tensors fused = p.gradients();
    const FormulaRules scope;
    const Tensors formula = p.gradients();
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(allclose(fused[i], formula[i], 1e-11, 1e-12))
          << "gradient " << i << " of " << batch << " x " << tq << " x " << tk;
    }
  }
}

TEST(AdditiveScores, LongSentencesHaveTheSameBitsOnAnyThreads) {
  const int before = threads();
  const Problem p = problem(1, 300, 170, 40, f32);
  std::vector<Tensors> all;
  for (const int n : {1, 2, 8}) {
    set_threads(n);
    all.push_back(p.gradients());
    all.back().push_back(additive_scores(p.q, p.k, p.v).detach());
  }
  set_threads(before);
  for (const Tensors& some : all) {
    for (size_t i = 0; i < some.size(); ++i) {
      const auto bytes = static_cast<size_t>(some[i].numel() * item_size(f32));
      EXPECT_EQ(std::memcmp(some[i].raw(), all[0][i].raw(), bytes), 0) << i;
    }
  }
}

// Of (Tq, Tk, h) neither direction stores more than an eighth.
TEST(AdditiveScores, StoresNoHiddenUnits) {
  for (const auto& [tq, tk] : {std::pair<int64_t, int64_t>{200, 200}, {40, 300}, {300, 40}}) {
    const Problem p = problem(1, tq, tk, 64, f32);
    reset_peak_memory();
    const int64_t start = memory_stats().live_bytes;
    (void)p.gradients();
    EXPECT_LT(memory_stats().peak_bytes - start, tq * tk * 64 * 4 / 8) << tq << " x " << tk;
  }
}

}  // namespace
}  // namespace fovea
