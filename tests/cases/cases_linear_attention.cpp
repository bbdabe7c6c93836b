// Attention that is not a softmax over all pairs: what masks, padding and empty sequences must do.
// Each test stands for its whole kind.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "fovea/core/engine.h"
#include "fovea/ops/ops.h"
#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::kInf;
using testing::kNan;
using testing::leaf;

// Kinds of attention with a mask of keys (Tk): q (B, H, Tq, D), k (B, H, Tk, D), v (B, H, Tk, Dv).
struct Masked {
  const char* name;
  std::function<Tensor(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& keep)> f;
  bool causal = false;
  bool of_pairs = false;  // the mask is one of scores: (B, H, Tq, Tk)
};

const std::vector<Masked>& kinds() {
  using X = const Tensor&;
  static const std::vector<Masked> all{
      {"feature",
       [](X q, X k, X v, X m) {
         return feature_attention(relu(q) + 0.1, relu(k) + 0.1, v, {.keep_mask = m});
       }},
      {"causal feature",
       [](X q, X k, X v, X m) {
         return feature_attention(relu(q) + 0.1, relu(k) + 0.1, v,
                                  {.keep_mask = m, .causal = true});
       },
       true},
      {"linear", [](X q, X k, X v, X m) { return linear_attention(q, k, v, {.keep_mask = m}); }},
      {"causal linear",
       [](X q, X k, X v, X m) {
         return linear_attention(q, k, v, {.keep_mask = m, .causal = true});
       },
       true},
      {"performer",
       [](X q, X k, X v, X m) {
         Generator g(3);
         const Tensor w = orthogonal_features(6, q.size(-1), q.dtype(), &g);
         return performer_attention(q, k, v, w, {.keep_mask = m});
       }},
      {"nystrom",
       [](X q, X k, X v, X m) {
         return soft_attention_nystrom(q, k, v, {.keep_mask = m, .landmarks = 3});
       }},
      {"sparsemax",
       [](X q, X k, X v, X m) { return sparsemax_attention(q, k, v, {.keep_mask = m}); }, false,
       true},
      {"entmax15", [](X q, X k, X v, X m) { return entmax15_attention(q, k, v, {.keep_mask = m}); },
       false, true}};
  return all;
}

// A sentence alone, and the same with garbage behind it in a batch of two: outputs and gradients.
TEST(CasesLinearAttention, PaddingChangesNothing) {
  for (const Masked& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    manual_seed(3);
    const Shape one{1, 2, 4, 3}, two{1, 2, 7, 3}, rest{1, 2, 3, 3};
    Tensors alone, batch;
    for (int i = 0; i < 3; ++i) {
      const Tensor x = randn(one, f64), garbage = randn(rest, f64) * 50;
      alone.push_back(leaf(x));
      // Causal attention counts from the last key: padding stands in front there.
      const Tensor row = cat(kind.causal ? Tensors{garbage, x} : Tensors{x, garbage}, 2);
      batch.push_back(leaf(cat({row, randn(two, f64)}, 0)));
    }
    const int64_t from = kind.causal ? 3 : 0;
    const Tensor keep = kind.causal ? tensor({{false, false, false, true, true, true, true},
                                              {true, true, true, true, true, true, true}})
                                    : tensor({{true, true, true, true, false, false, false},
                                              {true, true, true, true, true, true, true}});
    const Tensor y = kind.f(alone[0], alone[1], alone[2], {});
    const Tensor both = kind.f(batch[0], batch[1], batch[2],
                               reshape(keep, kind.of_pairs ? Shape{2, 1, 1, 7} : Shape{2, 1, 7}));
    const Tensor same = narrow(narrow(both, 0, 0, 1), 2, from, 4);
    EXPECT_TRUE(allclose(same, y, 1e-10, 1e-11));
    const Tensor up = randn(y.shape(), f64);
    for (bool create : {false, true}) {
      const GradOptions o{.create_graph = create, .retain_graph = true, .upstream = up};
      const Tensors want = grad(y, alone, o), got = grad(same, batch, o);
      for (size_t i = 0; i < 3; ++i) {
        const Tensor mine = narrow(got[i], 0, 0, 1);
        EXPECT_TRUE(allclose(narrow(mine, 2, from, 4), want[i], 1e-9, 1e-10)) << i;
        const Tensor padding = narrow(mine, 2, kind.causal ? 0 : 4, 3);
        EXPECT_TRUE(equal(padding, zeros_like(padding))) << i;
      }
    }
  }
}

// A NaN or infinity under the mask of every query is not there, forward and backward.
TEST(CasesLinearAttention, NaNUnderTheMask) {
  for (const Masked& kind : kinds()) {
    for (const double bad : {kNan, kInf}) {
      SCOPED_TRACE(kind.name);
      manual_seed(5);
      const Tensor q = randn({1, 2, 5, 4}, f64).requires_grad_();
      const Tensor k = randn({1, 2, 5, 4}, f64), v = randn({1, 2, 5, 3}, f64);
      const Tensor keep = tensor({true, true, false, true, false});
      const Tensor clean = kind.f(q, k, v, keep);
      const Tensor clean_gradient = grad(sum(clean), {q})[0];
      for (int64_t j : {2, 4}) {
        k.select(2, j).fill_(bad);
        v.select(2, j).fill_(bad);
      }
      const Tensor bk = leaf(k), bv = leaf(v), y = kind.f(q, bk, bv, keep);
      EXPECT_TRUE(allclose(y, clean, 1e-12, 1e-14));
      for (bool create : {false, true}) {
        const Tensors g = grad(sum(y), {q, bk, bv}, {.create_graph = create, .retain_graph = true});
        EXPECT_TRUE(allclose(g[0], clean_gradient, 1e-10, 1e-12));
        EXPECT_TRUE(all(isfinite(g[1])) && all(isfinite(g[2])));
        for (int64_t j : {2, 4}) {
          EXPECT_TRUE(equal(g[1].select(2, j), zeros({1, 2, 4}, f64)));
          EXPECT_TRUE(equal(g[2].select(2, j), zeros({1, 2, 3}, f64)));
        }
      }
    }
  }
}

// Queries that see no key, by mask or by position, give 0 and get and give gradient 0, whatever
// they hold.
TEST(CasesLinearAttention, AQueryThatSeesNothing) {
  for (const Masked& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    manual_seed(5);
    const Tensor q = randn({1, 1, 3, 4}, f64).requires_grad_();
    const Tensor k = randn({1, 1, 5, 4}, f64).requires_grad_();
    const Tensor v = randn({1, 1, 5, 3}, f64).requires_grad_();
    const Tensor y = kind.f(q, k, v, zeros({5}, boolean));
    EXPECT_TRUE(equal(y, zeros({1, 1, 3, 3}, f64)));
    for (bool create : {false, true}) {
      const GradOptions o{.create_graph = create,
                          .retain_graph = true,
                          .allow_unused = true,
                          .upstream = randn(y.shape(), f64)};
      for (const Tensor& g : grad(y, {q, k, v}, o)) {
        if (g.defined()) {
          EXPECT_TRUE(equal(g, zeros_like(g)));
        }
      }
    }
  }
  const Tensor fq = rand({90, 4}, f64), fk = rand({20, 4}, f64), v = randn({20, 3}, f64);
  narrow(fq, 0, 0, 73).fill_(kNan);  // 70 by position, 3 more by the mask
  const Tensor keep = ones({20}, boolean);
  narrow(keep, 0, 0, 3).fill_(false);
  const Tensors in{leaf(fq), leaf(fk), leaf(v)};
  const Tensor y = feature_attention(in[0], in[1], in[2], {.keep_mask = keep, .causal = true});
  EXPECT_TRUE(equal(narrow(y, 0, 0, 73), zeros({73, 3}, f64)));
  EXPECT_TRUE(all(isfinite(y)));
  const Tensors g = grad(y, in, {.upstream = randn(y.shape(), f64)});
  for (const Tensor& x : g) EXPECT_TRUE(all(isfinite(x)));
  EXPECT_TRUE(equal(narrow(g[0], 0, 0, 73), zeros({73, 4}, f64)));
  EXPECT_FALSE(any(narrow(g[0], 0, 74, 16) == 0));  // row 73 has one key, and so gradient 0
}

// The future cannot be seen: a NaN there reaches neither the queries before it nor their gradients.
TEST(CasesLinearAttention, NaNInTheFuture) {
  manual_seed(2);
  for (const int64_t at : {3, 64, 100, 129}) {
    const Tensor fq = rand({130, 5}, f64), fk = rand({130, 5}, f64), v = randn({130, 3}, f64);
    const auto past = [&](const Tensor& x) { return narrow(x, 0, 0, at); };
    const Tensors alone{leaf(past(fq)), leaf(past(fk)), leaf(past(v))};
    const Tensor want = feature_attention(alone[0], alone[1], alone[2], {.causal = true});
    fk.select(0, at).fill_(kNan);
    v.select(0, at).fill_(kNan);
    const Tensors in{leaf(fq), leaf(fk), leaf(v)};
    const Tensor y = feature_attention(in[0], in[1], in[2], {.causal = true});
    EXPECT_TRUE(allclose(past(y), want, 1e-12, 1e-13)) << at;
    EXPECT_TRUE(all(isnan(narrow(y, 0, at, 130 - at)))) << at;
    const Tensor up = zeros({130, 3}, f64);
    past(up).copy_(randn({at, 3}, f64));
    const Tensors got = grad(y, in, {.upstream = up});
    const Tensors g = grad(want, alone, {.upstream = past(up)});
    EXPECT_TRUE(allclose(past(got[0]), g[0], 1e-11, 1e-12)) << at;
  }
  // Nor does a gradient that is NaN reach the keys after its query.
  const Tensors in{rand({100, 5}, f64).requires_grad_(), rand({100, 5}, f64).requires_grad_(),
                   randn({100, 3}, f64).requires_grad_()};
  const Tensor y = feature_attention(in[0], in[1], in[2], {.causal = true});
  const Tensor up = randn({100, 3}, f64);
  up.select(0, 40).fill_(kNan);
  const Tensors g = grad(y, in, {.upstream = up});
  EXPECT_TRUE(all(isnan(g[0].select(0, 40))));
  EXPECT_TRUE(all(isfinite(narrow(g[0], 0, 0, 40))) && all(isfinite(narrow(g[0], 0, 41, 59))));
  for (size_t i : {1, 2}) {
    EXPECT_TRUE(all(isnan(narrow(g[i], 0, 0, 41))));
    EXPECT_TRUE(all(isfinite(narrow(g[i], 0, 41, 59))));
  }
}

// No keys: 0, written and not left; no queries, no heads: nothing. One key: its value, for any
// weights that sum to 1.
TEST(CasesLinearAttention, NoneAndOne) {
  for (const Masked& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Tensor q = randn({2, 3, 4, 5}).requires_grad_();
    const Tensor k = zeros({2, 3, 0, 5}).requires_grad_(), v = zeros({2, 3, 0, 6}).requires_grad_();
    const Tensor y = kind.f(q, k, v, {});
    EXPECT_TRUE(equal(y, zeros({2, 3, 4, 6})));
    for (const Tensor& g : grad(sum(y), {q, k, v}, {.allow_unused = true})) {
      if (g.defined()) {
        EXPECT_TRUE(equal(g, zeros_like(g)));
      }
    }
    const auto shape = [&](const Shape& a, const Shape& b, const Shape& c) {
      return kind.f(zeros(a), zeros(b), zeros(c), {}).shape();
    };
    EXPECT_EQ(shape({0, 3, 4, 5}, {0, 3, 2, 5}, {0, 3, 2, 6}), Shape({0, 3, 4, 6}));
    EXPECT_EQ(shape({2, 3, 0, 5}, {2, 3, 2, 5}, {2, 3, 2, 6}), Shape({2, 3, 0, 6}));
    if (std::string(kind.name) == "nystrom") continue;  // its weights have no sum
    const Tensor value = randn({1, 2, 1, 3}, f64), x = randn({1, 2, 1, 4}, f64);
    EXPECT_TRUE(allclose(kind.f(x, x, value, {}), value, 1e-14, 1e-14));
  }
}

// Features and values of no width.
TEST(CasesLinearAttention, NoWidth) {
  for (bool causal : {false, true}) {
    const Tensors x{zeros({2, 70, 0}).requires_grad_(), zeros({2, 70, 0}).requires_grad_(),
                    ones({2, 70, 4}).requires_grad_()};
    const Tensor y = feature_attention(x[0], x[1], x[2], {.causal = causal});
    EXPECT_TRUE(equal(y, zeros({2, 70, 4})));
    for (const Tensor& g : grad(sum(y), x)) EXPECT_TRUE(equal(g, zeros_like(g)));
    const Tensors z{ones({2, 70, 3}).requires_grad_(), ones({2, 70, 3}).requires_grad_(),
                    zeros({2, 70, 0}).requires_grad_()};
    const Tensor none = feature_attention(z[0], z[1], z[2], {.causal = causal});
    EXPECT_EQ(none.shape(), Shape({2, 70, 0}));
    for (const Tensor& g : grad(sum(none), z)) EXPECT_TRUE(equal(g, zeros_like(g)));
  }
}

// Where every feature is 0 there are no weights to share out.
TEST(CasesLinearAttention, FeaturesThatVanish) {
  const Tensor q = full({2, 3}, -1e4).requires_grad_(), k = randn({4, 3}).requires_grad_();
  const Tensor v = randn({4, 2}).requires_grad_(), y = linear_attention(q, k, v);
  EXPECT_TRUE(equal(y, zeros({2, 2})));
  for (bool create : {false, true}) {
    for (const Tensor& g : grad(sum(y), {q, k, v}, {.create_graph = create, .retain_graph = true}))
      EXPECT_TRUE(equal(g, zeros_like(g)));
  }
  // And what is small keeps its digits: elu(-20) + 1 in floats is 0.
  const Tensor low = full({1, 1}, -20), one = ones({2, 1});
  const Tensor keys = tensor({{-20.0}, {-21.0}}, f32);
  const double want = 1 / (1 + std::exp(-1.0));
  EXPECT_NEAR(linear_attention(low, keys, tensor({{1}, {0}}, f32)).item(), want, 1e-6);
  EXPECT_NEAR(linear_attention(one, keys, tensor({{1}, {0}}, f32)).at({0, 0}), want, 1e-6);
}

}  // namespace
}  // namespace fovea
