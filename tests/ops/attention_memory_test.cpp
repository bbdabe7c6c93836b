// Attention in tiles: what it stores, and that its numbers are those of attention with all weights.
#include <gtest/gtest.h>

#include "fovea/core/allocator.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

struct Pass {
  Tensor y, gq, gk, gv;
};

// Forward and backward of sum(y * upstream).
Pass run(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& upstream,
         const AttentionOptions& o) {
  const Tensor y = scaled_dot_product_attention(q, k, v, o);
  y.backward(upstream);
  return {y.detach(), q.grad(), k.grad(), v.grad()};
}

Tensors operands(const Shape& shape) {
  manual_seed(3);
  return {randn(shape).requires_grad_(), randn(shape).requires_grad_(),
          randn(shape).requires_grad_(), randn(shape)};
}

// Beyond the inputs, the result and the gradients: the log-sum-exp and its like, the gradient of
// queries of the second half of the keys, and the tiles.
TEST(AttentionMemory, IsLinearInTheNumberOfTokens) {
  const int64_t tokens = 16384, size = 8 * tokens * 64 * 4;
  const Tensors x = operands({1, 8, tokens, 64});
  const int64_t before = memory_stats().live_bytes;
  reset_peak_memory();
  const Pass p = run(x[0], x[1], x[2], x[3], {.causal = Causal::lower_right});
  const int64_t beyond = memory_stats().peak_bytes - before - 4 * size;
  EXPECT_LE(beyond, 64 << 20);
  EXPECT_GT(beyond, 0);
  EXPECT_EQ(max(abs(p.y.select(2, 0) - x[2].detach().select(2, 0))).item(), 0);
}

TEST(AttentionMemory, TilesGiveTheNumbersOfTheWhole) {
  for (const int n : {0, 1, 2}) {
    AttentionOptions o{.causal = Causal::lower_right};
    if (n == 1) o.window = 100;
    const Tensors x = operands(n == 2 ? Shape{1, 2, 200, 256} : Shape{1, 8, 512, 64});
    const Pass tiles = run(x[0], x[1], x[2], x[3], o);
    for (int i = 0; i < 3; ++i) x[static_cast<size_t>(i)].zero_grad();
    o.bias = zeros({1, 1});  // with a bias all weights are stored
    const Pass whole = run(x[0], x[1], x[2], x[3], o);
    const auto off = [](const Tensor& a, const Tensor& b) {
      return max(abs(a - b)).item() / max(abs(b)).item();
    };
    EXPECT_LE(off(tiles.y, whole.y), 2e-6);
    EXPECT_LE(off(tiles.gq, whole.gq), 2e-6);
    EXPECT_LE(off(tiles.gk, whole.gk), 2e-6);
    EXPECT_LE(off(tiles.gv, whole.gv), 2e-6);
  }
}

// What a window cannot see is not computed: as many numbers again cost nothing.
TEST(AttentionMemory, AWindowSeesOnlyWhatItShows) {
  const Tensors x = operands({1, 1, 300, 8});
  const AttentionOptions o{.window = 10};
  const Tensor y = scaled_dot_product_attention(x[0], x[1], x[2], o);
  const NoGrad scope;
  const Tensor far = x[2].clone();
  far.narrow(2, 200, 100).fill_(NAN);
  const Tensor same = scaled_dot_product_attention(x[0], x[1], far, o);
  EXPECT_TRUE(allclose(same.narrow(2, 0, 190), y.detach().narrow(2, 0, 190), 1e-5, 1e-6));
  EXPECT_TRUE(any(isnan(same.narrow(2, 190, 110))));
}

}  // namespace
}  // namespace fovea
