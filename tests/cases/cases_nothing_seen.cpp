// A query of whose keys nothing is left: masked, or all scores -inf, or both. Weights and output
// are 0, the gradient is 0, and what the other queries give is untouched.
#include "fovea/nn/attention/multi_head.h"
#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::expect_near;
using testing::gradients;
using testing::kInf;
using testing::kNan;
using testing::kWays;
using testing::leaf_of;
using testing::List;
using testing::Way;

TEST(Cases, MaskedSoftmaxOfKeptMinusInfinity) {
  for (DType t : {f32, f64}) {
    for (const Way way : kWays) {
      // What is masked would poison the row if it were looked at.
      const Tensor x = leaf_of({{-kInf, -kInf, 5.0},
                                {-kInf, 1.0, kNan},
                                {2.0, 2.0, kInf},
                                {kNan, kInf, -kInf},
                                {-kInf, 0.0, 0.0}},
                               t);
      const Tensor keep = tensor({{true, true, false},
                                  {true, true, false},
                                  {true, true, false},
                                  {false, false, false},
                                  {true, true, true}});
      const Tensor y = masked_softmax(x, keep);
      expect_near(y, {0, 0, 0, 0, 1, 0, .5, .5, 0, 0, 0, 0, 0, .5, .5}, 1e-7, name(way));
      const Tensor up = tensor({{7.0, -5.0, 3.0}}, t).expand({5, 3});
      const Tensor g = gradients(y, {x}, way, up)[0];
      expect_near(g, {0, 0, 0, 0, 0, 0, 3, -3, 0, 0, 0, 0, 0, -2, 2}, 1e-6, name(way));
      if (way != Way::recorded) continue;
      const Tensor twice = grad(sum(square(g)), {x})[0];
      EXPECT_TRUE(all(isfinite(twice)) && all(masked_fill(twice, keep, 0) == 0));
    }
    // One mask for all rows, and one decision for all of a row.
    const Tensor x = tensor({{-kInf, 1.0}, {-kInf, -kInf}}, t);
    expect_near(masked_softmax(x, tensor({true, false})), {0, 0, 0, 0}, 0);
    expect_near(masked_softmax(x, tensor({{true}, {true}})), {0, 1, 0, 0}, 0);
  }
}

struct Qkv {
  Tensor q, k, v;
};

// The scores of the first query, all it may see, overflow to -inf; the second sees as usual.
Qkv overflowing(DType t) {
  const double big = t == f32 ? 1e30 : 1e200;
  return {leaf_of({{big, 0.0}, {0.0, 1.0}}, t), leaf_of({{-big, 0.0}, {-big, 1.0}}, t),
          leaf_of({{1.0, 2.0}, {3.0, 4.0}}, t)};
}

TEST(Cases, AQueryWhoseScoresAreMinusInfinity) {
  const AttentionOptions options[] = {
      {},
      {.keep_mask = tensor({{true, false}, {true, true}})},
      {.causal = Causal::lower_right},
      {.keep_mask = tensor({{false, true}, {true, true}}), .causal = Causal::lower_right}};
  for (DType t : {f32, f64}) {
    for (const AttentionOptions& o : options) {
      for (const Way way : kWays) {
        const auto [q, k, v] = overflowing(t);
        expect_near(attention_weights(q, k, o), {0, 0, .33024, .66976}, 1e-5, name(way));
        const Tensor y = scaled_dot_product_attention(q, k, v, o);
        expect_near(y, {0, 0, 2.33952, 3.33952}, 1e-5, name(way));
        const Tensor up = tensor({{7.0, -5.0}, {1.0, 2.0}}, t);
        const Tensors g = gradients(y, {q, k, v}, way, up);
        expect_near(g[0][0], {0, 0}, 0, name(way));
        // What the second query alone gives to k and v.
        const auto [q1, k1, v1] = overflowing(t);
        const Tensor alone = scaled_dot_product_attention(narrow(q1, 0, 1, 1), k1, v1);
        const Tensors one = grad(alone, {k1, v1}, {.upstream = narrow(up, 0, 1, 1)});
        EXPECT_TRUE(allclose(g[1], one[0], 1e-6, 1e-7)) << name(way);
        EXPECT_TRUE(allclose(g[2], one[1], 1e-6, 1e-7)) << name(way);
      }
    }
  }
}

// The same said by a bias of -inf, which is a mask with a gradient: 0.
TEST(Cases, ABiasThatForbidsEverything) {
  for (DType t : {f32, f64}) {
    for (const Way way : kWays) {
      const Tensor q = randn({2, 4}, t).requires_grad_(), k = randn({2, 4}, t).requires_grad_();
      const Tensor v = leaf_of({{1.0, 2.0}, {3.0, 4.0}}, t);
      const Tensor bias = leaf_of({{-kInf, -kInf}, {0.0, -kInf}}, t);
      for (const Tensor& keep : {Tensor(), tensor({{true, false}, {true, true}})}) {
        const AttentionOptions o{.keep_mask = keep, .bias = bias};
        expect_near(attention_weights(q, k, o), {0, 0, 1, 0}, 0, name(way));
        const Tensor y = scaled_dot_product_attention(q, k, v, o);
        expect_near(y, {0, 0, 1, 2}, 0, name(way));
        const Tensor up = tensor({{7.0, -5.0}, {1.0, 2.0}}, t);
        const Tensors g = gradients(y, {q, k, v, bias}, way, up);
        for (size_t i : {0, 1, 3}) EXPECT_TRUE(all(g[i] == 0)) << i << ", " << name(way);
        expect_near(g[2], {1, 2, 0, 0}, 0, name(way));
      }
    }
  }
}

// A key that one query must not see and another may: what it holds stays with the other.
TEST(Cases, NaNUnderTheMaskOfOneQuery) {
  for (DType t : {f32, f64}) {
    for (const double bad : {kNan, kInf, -kInf}) {
      const Tensor q = randn({2, 3, 4}, t), k = randn({2, 5, 4}, t), v = randn({2, 5, 3}, t);
      const auto run = [&](bool poisoned) {
        const Tensor keys = clone(k), values = clone(v);
        if (poisoned) {
          keys.select(1, 4).fill_(bad);
          values.select(1, 4).fill_(bad);
        }
        const Tensor x = clone(q).requires_grad_();
        const Tensor y =
            scaled_dot_product_attention(x, keys, values, {.causal = Causal::lower_right});
        const Tensor g = grad(sum(y), {x})[0];
        return Tensors{narrow(y.detach(), 1, 0, 2), narrow(g, 1, 0, 2)};
      };
      const Tensors clean = run(false), got = run(true);
      for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(allclose(got[i], clean[i], 1e-5, 1e-6)) << bad;
    }
  }
}

// Through the layer: what is left of an empty sentence is the bias of the last projection.
TEST(Cases, MultiHeadAttentionToAnEmptySentence) {
  for (DType t : {f32, f64}) {
    for (const Way way : kWays) {
      manual_seed(11);
      const MultiHeadAttention layer({.d_model = 8, .heads = 2, .dtype = t});
      {
        const NoGrad scope;
        layer.w_o.bias.copy_(arange(8));
        layer.w_q.bias.fill_(.5);
      }
      const Tensor x = randn({2, 3, 8}, t).requires_grad_();
      const Tensor padding = tensor({{false, false, false}, {true, true, true}});
      // By the mask of padding; and by causality that leaves of the padded keys none.
      const AttendOptions none{.keep_mask = padding};
      const Tensor y = layer(x, none);
      for (int64_t i = 0; i < 3; ++i) expect_near(y[0][i], {0, 1, 2, 3, 4, 5, 6, 7}, 0, name(way));
      expect_near(layer.attend(x, x, x, none).weights[0], List(18, 0), 0);
      Tensors wanted = layer.parameters();
      wanted.push_back(x);
      const Tensors g = gradients(sum(square(y)), wanted, way);
      EXPECT_TRUE(equal(g.back()[0], zeros({3, 8}, t))) << name(way);

      // The other sentence alone, and the bias that both have.
      const Tensor other = clone(x.detach()[1]).unsqueeze(0).requires_grad_();
      Tensors alone = layer.parameters();
      alone.push_back(other);
      const Tensor bias = layer.w_o.bias;
      const Tensor loss = sum(square(layer(other))) + 3 * sum(square(bias));
      const Tensors want = gradients(loss, alone, way);
      for (size_t i = 0; i + 1 < want.size(); ++i) {
        const double scale = 1 + max(abs(want[i])).item();
        EXPECT_TRUE(allclose(g[i], want[i], 0, (t == f32 ? 3e-6 : 1e-12) * scale)) << i;
      }

      const Tensor last = tensor({{false, false, true}, {true, true, true}});
      const Tensor z = layer(x, {.keep_mask = last, .causal = Causal::lower_right});
      for (int64_t i = 0; i < 2; ++i) expect_near(z[0][i], {0, 1, 2, 3, 4, 5, 6, 7}, 0, name(way));
      const Tensor gx = gradients(sum(square(z)), {x}, way)[0];
      EXPECT_TRUE(all(isfinite(gx)));
      expect_near(gx[0].narrow(0, 0, 2), List(16, 0), 0, name(way));
    }
  }
}

// The scores of all keys far below: one query, two keys, identity projections.
TEST(Cases, MultiHeadAttentionRunsOverKeys) {
  for (DType t : {f32, f64}) {
    const MultiHeadAttention layer({.d_model = 64, .heads = 4, .dtype = t});
    {
      const NoGrad scope;
      for (const Linear* l : {&layer.w_q, &layer.w_k, &layer.w_v, &layer.w_o}) {
        l->weight.copy_(eye(64, t));
      }
    }
    const Tensor q = zeros({1, 1, 64}, t), k = zeros({1, 2, 64}, t), v = zeros({1, 2, 64}, t);
    for (int64_t h = 0; h < 4; ++h) {  // q . k = 16 in every head against 0
      q.select(2, 16 * h).fill_(4);
      k.select(1, 0).select(1, 16 * h).fill_(4);
    }
    v.select(1, 0).fill_(1);
    const Attended a = layer.attend(q, k, v);
    EXPECT_EQ(a.weights.shape(), Shape({1, 4, 1, 2}));
    for (int64_t h = 0; h < 4; ++h) expect_near(a.weights[0][h], {.98201, .01799}, 1e-5);
    expect_near(a.output, List(64, .98201), 1e-5);
    expect_near(layer(q, k, v), List(64, .98201), 1e-5);
  }
}

}  // namespace
}  // namespace fovea
