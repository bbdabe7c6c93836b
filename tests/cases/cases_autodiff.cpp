// Small inputs that broke other frameworks, with the right answer: gradients of basic operations.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/allocator.h"
#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/core/parallel.h"
#include "fovea/ops/ops.h"
#include "tests/core/counted_op.h"

namespace fovea {
namespace {

using testing::leaf;
using testing::traced;

using List = std::vector<double>;

Tensor variable(const Shape& shape, double value = 1, DType t = f64) {
  return full(shape, value, t).requires_grad_();
}
Tensor given(const Values& v, DType t = f64) { return tensor(v, t).requires_grad_(); }

// Broadcasting: a gradient has the shape of its input, for every operation that broadcasts.
TEST(Cases, GradientShapeIsInputShape) {
  const auto check = [](const Tensor& y, const Tensors& xs) {
    sum(y).backward();
    for (const Tensor& x : xs) EXPECT_EQ(x.grad().shape(), x.shape());
  };
  const Tensor a = variable({2, 3}), b = variable({3});
  check(a + b, {a, b});
  const Tensor c = variable({4, 1}), d = variable({1, 4});
  check(c * d, {c, d});
  const Tensor e = variable({2, 3}), f = variable({3, 1}), g = variable({1, 3});
  check(matmul(e, f) + g, {e, f, g});
  const Tensor h = variable({3, 1}), i = variable({2, 3, 4});
  check(h + i, {h, i});
  EXPECT_EQ(h.grad().to_vector(), List(3, 8));
  const Tensor j = variable({}), k = variable({5, 4});
  check(j * k, {j, k});
  EXPECT_EQ(j.grad().item(), 20);
  const Tensor l = variable({3, 1}), m = variable({1, 4}), n = variable({2, 1, 1});
  check(where(tensor({true, false, true, false}), l, m) / n, {l, m, n});
  const Tensor o = variable({2, 1, 2, 3}), p = variable({4, 3, 2});
  check(matmul(o, p), {o, p});
}

// Reductions: axes, kept or not, on square shapes with unequal upstream, where a wrong axis would
// go unseen.
TEST(Cases, ReductionsSpreadTheirGradientOverTheRightAxes) {
  const Tensor a = variable({5});
  a.mean(0).backward();
  for (double g : a.grad().to_vector()) EXPECT_DOUBLE_EQ(g, 0.2);
  const Tensor b = variable({2, 3, 4});
  sum(b.mean({1, 2})).backward();
  for (double g : b.grad().to_vector()) EXPECT_DOUBLE_EQ(g, 1.0 / 12);
  const Tensor up = tensor({1.0, 2.0, 3.0}, f64);
  for (bool keep : {false, true}) {
    const Tensor s0 = variable({3, 3}), s1 = variable({3, 3});
    s0.sum(0, keep).backward(keep ? up.unsqueeze(0) : up);
    s1.sum(1, keep).backward(keep ? up.unsqueeze(1) : up);
    EXPECT_EQ(s0.grad().to_vector(), (List{1, 2, 3, 1, 2, 3, 1, 2, 3}));
    EXPECT_EQ(s1.grad().to_vector(), (List{1, 1, 1, 2, 2, 2, 3, 3, 3}));
  }
  const Tensor c = variable({3, 3, 3});
  c.sum({0, 2}).backward(up);
  EXPECT_EQ(c.grad().select(1, 2).contiguous().to_vector(), List(9, 3));
  for (const auto& f : {amax, amin}) {
    const Tensor x = tensor({{1.0, 5.0, 2.0}, {7.0, 3.0, 4.0}, {0.0, 8.0, 6.0}}, f64);
    const Tensor r = x.detach().requires_grad_(), k = x.clone().requires_grad_();
    f(r, 1, false).backward(up);
    f(k, 0, false).backward(up);
    EXPECT_EQ(sum(r.grad(), 1).to_vector(), (List{1, 2, 3}));
    EXPECT_EQ(sum(k.grad(), 0).to_vector(), (List{1, 2, 3}));
  }
}

// Ties: what is handed out sums to what came in; the value alone shares, with an index the first
// takes all.
TEST(Cases, TiesOfExtremes) {
  const Tensor a = given({.6, .6, .3});
  a.max().backward();
  EXPECT_EQ(a.grad().to_vector(), (List{.5, .5, 0}));
  const Tensor b = given({.6, .6, .3});
  b.amax(0).backward();
  EXPECT_EQ(b.grad().to_vector(), (List{.5, .5, 0}));
  const Tensor c = given({.6, .6, .3});
  const auto r = max(c, 0);
  EXPECT_EQ(r.indices.item<int64_t>(), 0);
  r.values.backward();
  EXPECT_EQ(c.grad().to_vector(), (List{1, 0, 0}));
  const Tensor x = given({2.0, -1.0});
  sum(maximum(x, x)).backward();
  EXPECT_EQ(x.grad().to_vector(), (List{1, 1}));
  const Tensor p = given({2.0, -1.0}), q = given({2.0, 3.0});
  sum(maximum(p, q) * 10).backward();
  EXPECT_EQ(p.grad().to_vector(), (List{5, 0}));
  EXPECT_EQ(q.grad().to_vector(), (List{5, 10}));
  for (DType t : {f32, f64}) {
    const Tensor big = variable({70000}, 1, t), low = variable({70000}, 1, t);
    (big.max() + low.min()).backward();
    EXPECT_NEAR(sum(big.grad()).item(), 1, 1e-5);
    EXPECT_NEAR(sum(low.grad()).item(), 1, 1e-5);
    const Tensor rows = variable({70000, 2}, 1, t);
    sum(rows.amax(0)).backward();
    EXPECT_NEAR(sum(rows.grad()).item(), 2, 1e-5);
  }
  const Tensor s = given({{1.0, 1.0}, {1.0, 0.0}});
  sum(min(s, 0).values).backward();
  EXPECT_EQ(s.grad().to_vector(), (List{1, 0, 0, 1}));
  const Tensor image = variable({1, 1, 2, 2});
  sum(max_pool2d(image)).backward();
  EXPECT_EQ(image.grad().to_vector(), (List{1, 0, 0, 0}));
}

// Roots at 0: the gradient is 0, not infinite times 0.
TEST(Cases, RootsAtZeroHaveGradientZero) {
  for (bool create : {false, true}) {
    const GradOptions o{.create_graph = create};
    const Tensor zero = variable({3}, 0);
    const Tensor norm = sqrt(sum(square(zero)));
    EXPECT_EQ(grad(norm, {zero}, o)[0].to_vector(), List(3, 0));
    for (double v : {0.1, 3.0, 0.0, 1e9 / 3}) {
      for (int64_t n : {2, 3, 4, 7, 10, 1000}) {
        const Tensor row = variable({n}, v);
        EXPECT_EQ(std(row).item(), 0) << v << " " << n;
        EXPECT_EQ(grad(std(row), {row}, o)[0].to_vector(), List(n, 0)) << v << " " << n;
      }
    }
    const Tensor x = given({0.0, 4.0});
    EXPECT_EQ(grad(sum(sqrt(x) * tensor({0.0, 1.0}, f64)), {x}, o)[0].to_vector(), (List{0, .25}));
    const Tensor flat = variable({2, 5}, 7);
    EXPECT_TRUE(all(isfinite(grad(sum(std(flat, 1)), {flat}, o)[0])));
    const Tensor constant = variable({2, 4}, 1234);
    EXPECT_TRUE(all(isfinite(grad(sum(layer_norm(constant)), {constant}, o)[0])));
  }
}

TEST(Cases, PowersAtZeroAndOfNegatives) {
  for (bool create : {false, true}) {
    const GradOptions o{.create_graph = create, .retain_graph = true};
    const Tensor a = given({0.0, 2.0}), b = given({1.0, 1.0});
    const Tensors g = grad(sum(pow(a, b)), {a, b}, o);
    EXPECT_EQ(g[0].to_vector(), (List{1, 1}));
    EXPECT_NEAR(g[1].at({0}), 0, 0);
    EXPECT_NEAR(g[1].at({1}), 2 * std::log(2.0), 1e-12);
    const Tensor z = leaf(0);
    const double want[] = {0, 1, 0};
    for (int n : {0, 1, 2}) {
      EXPECT_EQ(grad(pow(z, n), {z}, o)[0].item(), want[n]) << "x^" << n;
      const Tensor e = full({}, n, f64);
      EXPECT_EQ(grad(pow(z, e), {z}, o)[0].item(), want[n]) << "x^" << n << " as a tensor";
    }
    const Tensor m = leaf(-2), three = full({}, 3, f64);
    EXPECT_EQ(pow(m, 3).item(), -8);
    EXPECT_EQ(grad(pow(m, 3), {m}, o)[0].item(), 12);
    EXPECT_EQ(grad(pow(m, three), {m}, o)[0].item(), 12);
    const Tensor wanting = leaf(3);
    const Tensors both = grad(pow(m, wanting), {m, wanting}, o);
    EXPECT_EQ(both[0].item(), 12);
    EXPECT_TRUE(std::isnan(both[1].item())) << "a negative base has no such derivative";
  }
  const Tensor z = leaf(0);
  const GradOptions o{.create_graph = true};
  EXPECT_EQ(grad(grad(pow(z, 2), {z}, o)[0], {z}, o)[0].item(), 2);
  EXPECT_EQ(pow(full({}, 0), 0).item(), 1);
}

// Products with an axis of size 0 write zeros; a row times an expanded column is as dense.
TEST(Cases, EmptyAndExpandedProducts) {
  for (DType t : {f32, f64}) {
    for (int round = 0; round < 3; ++round) {
      { const Tensor junk = full({3, 4}, 9e9, t); }  // its memory comes back below
      const Tensor y = matmul(zeros({3, 0}, t), zeros({0, 4}, t));
      EXPECT_EQ(y.shape(), (Shape{3, 4}));
      EXPECT_EQ(y.to_vector(), List(12, 0));
    }
    EXPECT_EQ(matmul(zeros({0, 3}, t), ones({3, 4}, t)).shape(), (Shape{0, 4}));
    EXPECT_EQ(matmul(zeros({0, 2, 3}, t), ones({3, 4}, t)).shape(), (Shape{0, 2, 4}));
    EXPECT_EQ(linear(zeros({2, 0}, t), zeros({3, 0}, t), full({3}, 5, t)).to_vector(), List(6, 5));
    EXPECT_EQ(dot(zeros({0}, t), zeros({0}, t)).item(), 0);
    const Tensor row = tensor({{2.0, 3.0}}, t), column = tensor({{5.0}, {7.0}}, t);
    const Tensor wide = column.expand({2, 2});
    EXPECT_EQ(matmul(row, wide).to_vector(), (List{31, 31}));
    EXPECT_EQ(matmul(wide, wide).to_vector(),
              matmul(wide.contiguous(), wide.contiguous()).to_vector());
    const Tensor a = zeros({3, 0}, t).requires_grad_(), b = zeros({0, 4}, t).requires_grad_();
    sum(matmul(a, b)).backward();
    EXPECT_EQ(a.grad().shape(), (Shape{3, 0}));
    EXPECT_EQ(b.grad().shape(), (Shape{0, 4}));
    const Tensor c = ones({2, 3}, t).requires_grad_(), none = ones({3, 0}, t).requires_grad_();
    sum(matmul(c, none)).backward();
    EXPECT_EQ(c.grad().to_vector(), List(6, 0));
  }
}

// Second derivatives through normalisation.
TEST(Cases, LayerNormTwice) {
  const Tensor x = given({1.0, 2.0, 4.0}), w = given({2.0, .5, 3.0}), b = given({0.0, 0.0, 0.0});
  const Tensor y = layer_norm(x, w, b);
  const Tensor g = grad(sum(y * y), {x}, {.create_graph = true})[0];
  const Tensors second = grad(sum(g * tensor({1.0, -2.0, 3.0}, f64)), {x, w});
  const double h = 1e-5;
  for (int i = 0; i < 3; ++i) {
    const auto at = [&](double shift) {
      const Tensor moved = x.detach().clone();
      moved.data<double>()[i] += shift;
      moved.requires_grad_();
      const Tensor z = layer_norm(moved, w.detach(), b.detach());
      return sum(grad(sum(z * z), {moved})[0] * tensor({1.0, -2.0, 3.0}, f64)).item();
    };
    EXPECT_NEAR(second[0].at({i}), (at(h) - at(-h)) / (2 * h), 1e-6);
  }
}

// Each node once, after all its consumers.
TEST(Cases, Diamonds) {
  std::vector<std::string> log;
  const Tensor a = leaf(1);
  const Tensor b = traced(a + a, log, "b");
  const Tensor c = b + b;
  c.backward();
  EXPECT_EQ(a.grad().item(), 4);
  EXPECT_EQ(log.size(), 1u);
  const Tensor x = leaf(1), s = leaf(1);
  const Tensor xa = x * s;
  (x * xa + x * x * s + x * xa).backward();
  EXPECT_EQ(x.grad().item(), 6);
  EXPECT_EQ(s.grad().item(), 3);
}

TEST(Cases, BackwardTwice) {
  const auto build = [](const Tensor& a, const Tensor& b, const Tensor& d) { return (a + b) * d; };
  const Tensor a = leaf(3), b = leaf(2), d = leaf(1);
  const Tensor once = build(a, b, d);
  once.backward();
  EXPECT_THROW(once.backward(), GraphError);
  EXPECT_EQ(a.grad().item(), 1);
  EXPECT_EQ(d.grad().item(), 5);
  const Tensor a2 = leaf(3), b2 = leaf(2), d2 = leaf(1);
  const Tensor e = build(a2, b2, d2);
  e.backward({}, true);
  e.backward({}, true);
  EXPECT_EQ(a2.grad().item(), 2);
  EXPECT_EQ(b2.grad().item(), 2);
  EXPECT_EQ(d2.grad().item(), 10);
}

// Nothing is kept when the last handle goes: each operation, forward only, with backward, and with
// losses that are summed over steps.
TEST(Cases, AThousandStepsLeaveNothingBehind) {
  const Tensor x = variable({64}, .5);
  x.set_grad(zeros({64}, f64));
  const auto steps = {tanh, exp, sqrt, sigmoid, log, gelu, relu};
  const auto round = [&] {
    for (const auto& f : steps) {
      Tensor y;
      for (int i = 0; i < 50; ++i) y = f(x);
      for (int i = 0; i < 50; ++i) sum(f(x)).backward();
      Tensor total = zeros({}, f64);
      for (int i = 0; i < 50; ++i) total = total + sum(f(x));
      total.backward();
      Tensor running = zeros({}, f64);
      for (int i = 0; i < 50; ++i) running.add_(sum(softmax(f(x))).detach());
    }
  };
  const MemoryStats before = memory_stats();
  round();
  const MemoryStats after = memory_stats();
  EXPECT_EQ(after.live_nodes, before.live_nodes);
  EXPECT_EQ(after.live_tensors, before.live_tensors);
  EXPECT_EQ(after.live_bytes, before.live_bytes);
}

// Look-ups of one row many times: every contribution counts, on any number of threads.
TEST(Cases, RepeatedLookUpsAddUp) {
  const Tensor x = given({.1});
  gather(x, 0, tensor({0, 0})).backward(tensor({.2, .3}, f64));
  EXPECT_DOUBLE_EQ(x.grad().at({0}), .5);
  const int before = threads();
  for (int n : {1, 8}) {
    set_threads(n);
    const int64_t count = 100000;
    const Tensor w = ones({4, 3}).requires_grad_();
    sum(embedding(w, full({count}, 2, i64))).backward();
    EXPECT_EQ(w.grad().to_vector(), (List{0, 0, 0, 0, 0, 0, 1e5, 1e5, 1e5, 0, 0, 0}));
    const Tensor g = ones({2}).requires_grad_();
    sum(gather(g, 0, zeros({count}, i64))).backward();
    EXPECT_EQ(g.grad().to_vector(), (List{1e5, 0}));
    const Tensor s = ones({2, 3}).requires_grad_();
    sum(index_select(s, 0, ones({count}, i64))).backward();
    EXPECT_EQ(s.grad().to_vector(), (List{0, 0, 0, 1e5, 1e5, 1e5}));
    EXPECT_EQ(scatter_add(zeros({2}), 0, ones({count}, i64), ones({count})).to_vector(),
              (List{0, 1e5}));
  }
  set_threads(before);
}

TEST(Cases, ThePaddingRowGetsNoGradient) {
  const Tensor w = given({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}});
  const Tensor ids = tensor({{0, 1}, {1, 2}});
  const Tensor y = embedding(w, ids, 1);
  EXPECT_EQ(y.select(0, 0).contiguous().to_vector(), (List{1, 2, 3, 4})) << "read as any row";
  for (bool create : {false, true}) {
    const Tensor g = grad(sum(y), {w}, {.create_graph = create, .retain_graph = true})[0];
    EXPECT_EQ(g.to_vector(), (List{1, 1, 0, 0, 1, 1}));
  }
  // So the gradient does not depend on what came in there.
  const Tensor up = variable({2, 2, 2});
  const Tensor g = grad(y, {w}, {.create_graph = true, .upstream = up})[0];
  EXPECT_EQ(grad(sum(g), {up})[0].to_vector(), (List{1, 1, 0, 0, 0, 0, 1, 1}));
}

}  // namespace
}  // namespace fovea
