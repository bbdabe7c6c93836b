// Small inputs that broke other frameworks, with the right answer: attention and recurrent cells.
// Each stands for its whole kind.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/nn/attention/multi_head.h"
#include "fovea/nn/recurrent/gru.h"
#include "fovea/ops/ops.h"
#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::expect_near;
using testing::kNan;

struct Heads {
  Tensor q, k, v;
};
// q = k = I, v = [[1, 2], [3, 4]], as a batch of one head.
Heads two_tokens(DType t) {
  const Tensor v = tensor({{1, 2}, {3, 4}}, t);
  const auto leaf = [](const Tensor& x) {
    return clone(reshape(x, {1, 1, 2, 2})).requires_grad_();
  };
  return {leaf(eye(2, t)), leaf(eye(2, t)), leaf(v)};
}

// A query that may see nothing: weights and output 0, gradient 0, nothing added to the others',
// whoever asks and however the mask came to be; also when the gradient is differentiated again.
TEST(Cases, AQueryThatSeesNothing) {
  for (DType t : {f32, f64}) {
    for (bool create : {false, true}) {
      const auto [q, k, v] = two_tokens(t);
      const AttentionOptions o{.keep_mask = tensor({{false, false}, {true, true}})};
      const Tensor w = attention_weights(q, k, o);
      expect_near(w, {0, 0, .33024, .66976}, 1e-5);
      const Tensor y = scaled_dot_product_attention(q, k, v, o);
      expect_near(y, {0, 0, 2.33952, 3.33952}, 1e-5);
      EXPECT_EQ(w.at({0, 0, 0, 0}), 0);
      EXPECT_EQ(y.at({0, 0, 0, 0}), 0);
      const GradOptions both{.create_graph = create, .upstream = tensor({{{{7, -5}, {1, 2}}}}, t)};
      const Tensors every = grad(y, {q, k, v}, both);
      EXPECT_EQ(every[0].at({0, 0, 0, 0}), 0);
      EXPECT_EQ(every[0].at({0, 0, 0, 1}), 0);
      // What row 1 alone gives to k and v.
      const auto [q1, k1, v1] = two_tokens(t);
      const Tensor alone = scaled_dot_product_attention(narrow(q1, 2, 1, 1), k1, v1);
      const Tensors one = grad(alone, {k1, v1}, {.upstream = tensor({{{{1, 2}}}}, t)});
      EXPECT_TRUE(allclose(every[1], one[0], 1e-6, 1e-7));
      EXPECT_TRUE(allclose(every[2], one[1], 1e-6, 1e-7));
      if (!create) continue;
      for (const Tensor& twice : grad(sum(square(every[1])), {q, k, v})) {
        EXPECT_TRUE(all(isfinite(twice)));
      }
    }
  }
}

// Causal and padded at once: the first sentence's only real token is its last.
TEST(Cases, CausalMeetsPadding) {
  const Tensor x = randn({2, 1, 3, 4}, f64).requires_grad_();
  const Tensor keep = tensor({{false, false, true}, {true, true, true}}).reshape({2, 1, 1, 3});
  const Tensor y =
      scaled_dot_product_attention(x, x, x, {.keep_mask = keep, .causal = Causal::lower_right});
  expect_near(y[0].narrow(1, 0, 2), std::vector<double>(8, 0), 0);
  expect_near(y[0].narrow(1, 2, 1), x[0].narrow(1, 2, 1).to_vector(), 1e-15);
  const Tensor g = grad(sum(y), {x})[0];
  EXPECT_TRUE(all(isfinite(g)));
}

// A NaN or infinity under the mask of every query is not there, forward and backward.
TEST(Cases, NaNUnderTheMask) {
  for (const double bad : {kNan, std::numeric_limits<double>::infinity()}) {
    const Tensor q = randn({1, 2, 3, 4}, f64).requires_grad_();
    Tensor k = randn({1, 2, 5, 4}, f64), v = randn({1, 2, 5, 3}, f64);
    const Tensor keep = tensor({true, true, false, true, false});
    const Tensor clean = scaled_dot_product_attention(q, k, v, {.keep_mask = keep});
    const Tensor clean_gradient = grad(sum(clean), {q})[0];
    for (int64_t j : {2, 4}) {
      k.select(2, j).fill_(bad);
      v.select(2, j).fill_(bad);
    }
    k.requires_grad_();
    v.requires_grad_();
    EXPECT_TRUE(all(isfinite(attention_weights(q, k, {.keep_mask = keep}))));
    const Tensor y = scaled_dot_product_attention(q, k, v, {.keep_mask = keep});
    EXPECT_TRUE(allclose(y, clean, 1e-12, 1e-14));
    for (bool create : {false, true}) {
      const Tensors g = grad(sum(y), {q, k, v}, {.create_graph = create, .retain_graph = true});
      EXPECT_TRUE(allclose(g[0], clean_gradient, 1e-12, 1e-13));
      for (int64_t j : {2, 4}) {
        EXPECT_TRUE(equal(g[1].select(2, j), zeros({1, 2, 4}, f64)));
        EXPECT_TRUE(equal(g[2].select(2, j), zeros({1, 2, 3}, f64)));
      }
      EXPECT_TRUE(all(isfinite(g[1])) && all(isfinite(g[2])));
    }
  }
}

// One query, two keys: softmax runs over the keys, and the scale is that of one head.
TEST(Cases, TheWeightsOfOneQuerySumToOneOverKeys) {
  const Tensor q = zeros({1, 4, 1, 16}), k = zeros({1, 4, 2, 16});
  q.select(3, 0).fill_(4);
  k.select(2, 0).select(2, 0).fill_(4);  // q . k = 16 against 0
  const Tensor w = attention_weights(q, k);
  for (int64_t h = 0; h < 4; ++h) expect_near(w[0][h], {.98201, .01799}, 1e-5);
}

// Which keys are seen, by either alignment, for fewer, more and as many queries as keys.
TEST(Cases, CausalAlignments) {
  const auto seen = [](int64_t tq, int64_t tk, Causal causal) {
    const Tensor w = attention_weights(zeros({tq, 1}), zeros({tk, 1}), {.causal = causal});
    std::string text;
    for (int64_t i = 0; i < tq; ++i) {
      for (int64_t j = 0; j < tk; ++j) text += w.at({i, j}) > 0 ? '1' : '0';
      if (i + 1 < tq) text += '/';
    }
    return text;
  };
  EXPECT_EQ(seen(2, 5, Causal::lower_right), "11110/11111");
  EXPECT_EQ(seen(5, 2, Causal::lower_right), "00/00/00/10/11");
  EXPECT_EQ(seen(1, 5, Causal::lower_right), "11111");
  EXPECT_EQ(seen(2, 5, Causal::upper_left), "10000/11000");
  EXPECT_EQ(seen(5, 2, Causal::upper_left), "10/11/11/11/11");
  EXPECT_EQ(seen(3, 3, Causal::lower_right), seen(3, 3, Causal::upper_left));
  const Tensor q = ones({5, 2}, f64), k = ones({2, 2}, f64);
  const Tensor y = scaled_dot_product_attention(q, k, k, {.causal = Causal::lower_right});
  expect_near(y.narrow(0, 0, 3), std::vector<double>(6, 0), 0);
}

// A sentence alone, and the same with three tokens of garbage behind it in a batch of two.
TEST(Cases, PaddingChangesNothing) {
  for (DType t : {f32, f64}) {
    const double tolerance = t == f32 ? 1e-6 : 1e-12;
    manual_seed(3);
    const MultiHeadAttention layer({.d_model = 8, .heads = 2, .dtype = t});
    const Tensor x = randn({1, 4, 8}, t), garbage = randn({1, 3, 8}, t) * 1e3;
    const Tensor other = randn({1, 7, 8}, t);
    const auto gradients = [&](const Tensor& loss) {
      layer.zero_grad();
      loss.backward();
      Tensors g;
      for (const Tensor& p : layer.parameters()) g.push_back(clone(p.grad()));
      return g;
    };
    const Tensor alone = layer(x);
    const Tensors want = gradients(sum(square(alone)));
    const Tensor keep = tensor({{true, true, true, true, false, false, false},
                                {true, true, true, true, true, true, true}});
    const Tensor y = layer(cat({cat({x, garbage}, 1), other}), {.keep_mask = keep});
    const Tensor first = y.narrow(0, 0, 1).narrow(1, 0, 4);
    EXPECT_TRUE(allclose(first, alone, tolerance, tolerance));
    const Tensors got = gradients(sum(square(first)));
    for (size_t i = 0; i < got.size(); ++i) {
      const double scale = max(abs(want[i])).item();
      EXPECT_TRUE(allclose(got[i], want[i], 0, 3 * tolerance * (1 + scale))) << i;
    }
  }
}

// No keys: the output is 0, written and not left; no sentences, no queries: nothing.
TEST(Cases, AttentionToNothing) {
  const Tensor q = randn({2, 3, 4, 5}).requires_grad_();
  const Tensor k = zeros({2, 3, 0, 5}).requires_grad_(), v = zeros({2, 3, 0, 6}).requires_grad_();
  const Tensor y = scaled_dot_product_attention(q, k, v);
  EXPECT_TRUE(equal(y, zeros({2, 3, 4, 6})));
  for (const Tensor& g : grad(sum(y), {q, k, v})) EXPECT_TRUE(equal(g, zeros_like(g)));
  EXPECT_EQ(
      scaled_dot_product_attention(zeros({0, 3, 4, 5}), zeros({0, 3, 2, 5}), zeros({0, 3, 2, 6}))
          .shape(),
      Shape({0, 3, 4, 6}));
  EXPECT_EQ(scaled_dot_product_attention(zeros({2, 3, 0, 5}), zeros({2, 3, 2, 5}),
                                         zeros({2, 3, 2, 6}), {.causal = Causal::lower_right})
                .shape(),
            Shape({2, 3, 0, 6}));
  const MultiHeadAttention layer({.d_model = 4, .heads = 2});
  EXPECT_EQ(layer(zeros({0, 3, 4})).shape(), Shape({0, 3, 4}));
  EXPECT_EQ(layer(zeros({2, 3, 4}), zeros({2, 0, 4}), zeros({2, 0, 4})).shape(), Shape({2, 3, 4}));
}

TEST(Cases, WidthsOfMultiHeadAttention) {
  const MultiHeadAttention layer({.d_model = 24, .heads = 1, .vdim = 12});
  EXPECT_EQ(layer(zeros({5, 10, 24}), zeros({5, 10, 24}), zeros({5, 10, 12})).shape(),
            Shape({5, 10, 24}));
  try {
    const MultiHeadAttention wrong({.d_model = 10, .heads = 3});
    FAIL();
  } catch (const ValueError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("10"), std::string::npos) << text;
    EXPECT_NE(text.find("3"), std::string::npos) << text;
  }
}

// The hidden bias is inside the product with the reset gate.
TEST(Cases, GruStep) {
  for (DType t : {f32, f64}) {
    const GRUCell cell({.in = 1, .hidden = 1, .dtype = t});
    const NoGrad scope;
    cell.weight_ih.fill_(1);
    cell.weight_hh.fill_(1);
    cell.bias_ih.fill_(0);
    cell.bias_hh.copy_(tensor({0, 0, -1}, t));
    const Tensor one = ones({1, 1}, t);
    const double tolerance = t == f32 ? 1e-6 : 1e-14;
    const auto sigmoid_of = [](double x) { return 1 / (1 + std::exp(-x)); };
    // h' = (1 - z) n + z h with z = sigmoid(2): n = tanh(1 + sigmoid(2) (1 - 1)).
    const Tensor h1 = cell(one, one);
    const double z1 = sigmoid_of(2), n1 = (h1.item() - z1) / (1 - z1);
    EXPECT_NEAR(n1, .76159, 1e-5);
    EXPECT_NEAR(n1, std::tanh(1), 20 * tolerance);
    expect_near(h1, {.97158}, 1e-5);
    Tensor now = h1;
    double h = (1 - z1) * std::tanh(1) + z1;
    for (int step = 0; step < 2; ++step) {
      const double gate = sigmoid_of(1 + h), n = std::tanh(1 + gate * (h - 1));
      h = (1 - gate) * n + gate * h;
      now = cell(one, now);
      expect_near(now, {h}, tolerance);
    }
  }
}

}  // namespace
}  // namespace fovea
