// Causal attention of fewer, more and as many queries as keys, by either alignment and with padding
// or without: result and gradients are those of the plain composition. And dropout of weights at
// its ends.
#include "fovea/nn/attention/multi_head.h"
#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::gradients;
using testing::kWays;
using testing::Way;

// Which keys each query may see, by the words of the header: (Tq, Tk).
Tensor seen(int64_t tq, int64_t tk, Causal causal) {
  const Tensor keep = zeros({tq, tk}, boolean);
  for (int64_t i = 0; i < tq; ++i) {
    for (int64_t j = 0; j < tk; ++j) {
      const int64_t last = causal == Causal::lower_right ? i + tk - tq : i;
      keep.data<uint8_t>()[i * tk + j] = causal == Causal::none || j <= last;
    }
  }
  return keep;
}

TEST(Cases, CausalAttentionEqualsThePlainComposition) {
  for (DType t : {f32, f64}) {
    for (const auto& [tq, tk] :
         {std::pair<int64_t, int64_t>{2, 5}, {5, 2}, {1, 5}, {3, 3}, {70, 130}, {130, 70}}) {
      for (const Causal causal : {Causal::none, Causal::lower_right, Causal::upper_left}) {
        for (bool padded : {false, true}) {
          const auto leaf = [t](const Shape& s) { return randn(s, t).requires_grad_(); };
          const Tensor q = leaf({2, 2, tq, 4}), k = leaf({2, 2, tk, 4}), v = leaf({2, 2, tk, 3});
          // The second sentence ends early; the first begins late.
          Tensor keep = seen(tq, tk, causal), padding;
          if (padded) {
            padding = ones({2, 1, 1, tk}, boolean);
            padding.select(0, 0).narrow(2, 0, 1).fill_(false);
            padding.select(0, 1).narrow(2, tk - 1, 1).fill_(false);
            keep = logical_and(keep, padding);
          }
          const Tensor w = masked_softmax(matmul(q, transpose(k, -2, -1)) * .5, keep);
          const Tensor want = matmul(w, v), up = randn(want.shape(), t);
          const Tensors wanted = grad(want, {q, k, v}, {.upstream = up});
          const AttentionOptions o{.keep_mask = padding, .causal = causal};
          const double tolerance = t == f32 ? 2e-5 : 1e-12;
          for (const Way way : kWays) {
            SCOPED_TRACE(std::to_string(tq) + " queries, " + std::to_string(tk) + " keys, " +
                         name(way));
            const Tensor y = scaled_dot_product_attention(q, k, v, o);
            EXPECT_TRUE(allclose(y, want, tolerance, tolerance));
            EXPECT_TRUE(allclose(attention_weights(q, k, o), w, tolerance, tolerance));
            const Tensors g = gradients(y, {q, k, v}, way, up);
            for (size_t i = 0; i < 3; ++i) {
              EXPECT_TRUE(allclose(g[i], wanted[i], tolerance, 5 * tolerance)) << i;
            }
          }
        }
      }
    }
  }
}

TEST(Cases, DropoutOfAttentionAtItsEnds) {
  for (DType t : {f32, f64}) {
    for (const Way way : kWays) {
      const Tensor q = randn({2, 3, 4}, t).requires_grad_(), k = randn({2, 5, 4}, t);
      const Tensor v = randn({2, 5, 4}, t).requires_grad_();
      const Tensor plain = scaled_dot_product_attention(q, k, v);
      EXPECT_TRUE(equal(scaled_dot_product_attention(q, k, v, {.dropout = 0}), plain));
      const Tensor none = scaled_dot_product_attention(q, k, v, {.dropout = 1});
      EXPECT_TRUE(equal(none, zeros({2, 3, 4}, t)));
      for (const Tensor& g : gradients(sum(none), {q, v}, way)) {
        EXPECT_TRUE(equal(g, zeros_like(g))) << name(way);
      }
      EXPECT_TRUE(equal(attention_weights(q, k, {.dropout = 1}), attention_weights(q, k)));
      // A constant value comes back scaled by what was kept, 1 on average.
      Generator g(6);
      const Tensor wide = zeros({1, 200, 4}, t), ones_v = ones({1, 500, 1}, t);
      const Tensor y = scaled_dot_product_attention(wide, zeros({1, 500, 4}, t), ones_v,
                                                    {.dropout = .1, .generator = &g});
      EXPECT_NEAR(mean(y).item(), 1, 5 * std::sqrt(.1 / .9 / 1e5));
    }
    MultiHeadAttention layer({.d_model = 8, .heads = 2, .dropout = 1, .dtype = t});
    const Tensor x = randn({2, 3, 8}, t);
    EXPECT_TRUE(equal(layer(x), zeros({2, 3, 8}, t))) << "training: the bias alone, which is 0";
    layer.eval();
    EXPECT_GT(max(abs(layer(x))).item(), 0);
  }
}

}  // namespace
}  // namespace fovea
