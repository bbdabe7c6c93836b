// Derivatives as functions against results worked out by hand, and recomputation against the plain
// function. Also the numbers of a few operations at the places where formulas break.
#include "fovea/ops/functional.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

void expect_near(const Tensor& a, const std::vector<double>& want, double tolerance = 1e-12) {
  const auto got = a.to_vector<double>();
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_TRUE(std::fabs(got[i] - want[i]) <= tolerance)
        << "element " << i << " is " << got[i] << " instead of " << want[i];
  }
}

Tensor leaf(const Values& v, DType t = f64) { return tensor(v, t).requires_grad_(); }

// ------------------------------------------------------------------ derivatives as functions

TEST(Functional, Jacobian) {
  // y = (x0 x1, sin x0, x1^2)
  const auto f = [](const Tensor& x) {
    const Tensor a = select(x, 0, 0), b = select(x, 0, 1);
    return stack({a * b, sin(a), square(b)});
  };
  const Tensor j = jacobian(f, tensor({0.5, 3.0}, f64));
  EXPECT_EQ(j.shape().str(), Shape({3, 2}).str());
  EXPECT_FALSE(j.requires_grad());
  expect_near(j, {3, 0.5, std::cos(0.5), 0, 0, 6});
}

TEST(Functional, JacobianOfAMatrixHasBothShapes) {
  const auto f = [](const Tensor& x) { return sum(x, 1); };
  const Tensor j = jacobian(f, ones({2, 3}, f64));
  EXPECT_EQ(j.shape().str(), Shape({2, 2, 3}).str());
  expect_near(j, {1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1});
}

TEST(Functional, JacobianOfAConstantIsZero) {
  expect_near(jacobian([](const Tensor&) { return ones({2}, f64); }, ones({2}, f64)), {0, 0, 0, 0});
  const Tensor none = jacobian([](const Tensor& x) { return slice(x, 0, 0, 0); }, ones({2}, f64));
  EXPECT_EQ(none.shape().str(), Shape({0, 2}).str());
}

TEST(Functional, JacobianCanBeDifferentiated) {
  const Tensor x = leaf({0.5, 3.0});
  const Tensor j = jacobian([](const Tensor& v) { return v * v * v; }, x, true);
  expect_near(grad(sum(j), {x})[0], {6 * 0.5, 6 * 3.0});
}

// y = x0^2 x1 + exp x1
Tensor curved(const Tensor& x) {
  const Tensor a = select(x, 0, 0), b = select(x, 0, 1);
  return square(a) * b + exp(b);
}

TEST(Functional, HessianAndItsProducts) {
  const Tensor x = tensor({2.0, 0.5}, f64);
  const double e = std::exp(0.5);
  const Tensor h = hessian(curved, x);
  EXPECT_EQ(h.shape().str(), Shape({2, 2}).str());
  EXPECT_FALSE(h.requires_grad());
  expect_near(h, {1, 4, 4, e});
  expect_near(hvp(curved, x, tensor({1.0, -2.0}, f64)), {1 - 8, 4 - 2 * e});
  expect_near(hessian([](const Tensor& v) { return sum(v * 3); }, x), {0, 0, 0, 0});
  expect_near(hvp([](const Tensor& v) { return sum(v * 3); }, x, x), {0, 0});
  EXPECT_THROW((void)hessian([](const Tensor& v) { return v * v; }, x), ShapeError);
  EXPECT_THROW((void)hvp([](const Tensor& v) { return v * v; }, x, x), ShapeError);
  EXPECT_THROW((void)hessian(curved, tensor({1, 2})), DTypeError);
}

TEST(Functional, Jvp) {
  const auto f = [](const Tensor& x) { return stack({curved(x), sum(x * x)}); };
  const Tensor y = jvp(f, tensor({2.0, 0.5}, f64), tensor({1.0, -2.0}, f64));
  // gradients (2 x0 x1, x0^2 + exp x1) and 2 x
  expect_near(y, {2 - 2 * (4 + std::exp(0.5)), 4 - 2});
  expect_near(jvp([](const Tensor& x) { return x * 3; }, ones({2}, f64), tensor({1.0, 2.0}, f64)),
              {3, 6});
}

TEST(Functional, WorksInsideNoGradAndLeavesTheCallersGraphAlone) {
  const NoGrad scope;
  const Tensor x = leaf({2.0, 0.5});
  expect_near(hvp(curved, x, tensor({1.0, 0.0}, f64)), {1, 4});
  EXPECT_FALSE(x.grad().defined());
}

// ------------------------------------------------------------------ checkpoint

Tensor block(const Tensors& in) { return tanh(matmul(in[0], in[1])) * exp(in[0] * 0.1) + in[0]; }

TEST(Checkpoint, EqualsThePlainFunction) {
  manual_seed(3);
  const Tensor x = randn({3, 3}, f64).requires_grad_(), w = randn({3, 3}, f64).requires_grad_();
  const Tensor up = randn({3, 3}, f64);
  const auto results = [&](bool recompute) {
    const Tensor h = x * 2;  // neither a leaf, nor independent of x
    const Tensors in{h, w + x};
    const Tensor y = recompute ? checkpoint(block, in) : block(in);
    GradOptions keep;
    keep.create_graph = true;
    keep.upstream = up;
    const Tensors g = grad(y, {x, w}, keep);
    Tensors all{y, g[0], g[1]};
    for (const Tensor& second : grad(sum(g[0] * up) + sum(square(g[1])), {x, w})) {
      all.push_back(second);
    }
    GradOptions plain;
    plain.upstream = up;
    const Tensors fresh{x * 2, w + x};
    const Tensor y2 = recompute ? checkpoint(block, fresh) : block(fresh);
    for (const Tensor& first : grad(y2, {x, w}, plain)) {
      all.push_back(first);
    }
    return all;
  };
  const Tensors a = results(true), b = results(false);
  ASSERT_EQ(a.size(), 7u);
  for (size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(i);
    expect_near(a[i], b[i].to_vector<double>());
  }
}

TEST(Checkpoint, AddsToGradOfLeaves) {
  const Tensor x = leaf({{1.0, 2.0}, {3.0, 4.0}}), w = leaf({{0.1, 0.2}, {0.3, 0.4}});
  backward(sum(checkpoint(block, {x, w})));
  const Tensor gx = x.grad(), gw = w.grad();
  const Tensor x2 = x.detach().requires_grad_(), w2 = w.detach().requires_grad_();
  backward(sum(block({x2, w2})));
  expect_near(gx, x2.grad().to_vector<double>());
  expect_near(gw, w2.grad().to_vector<double>());
}

TEST(Checkpoint, OneTensorGivenTwiceCountsOnceEach) {
  const Tensor x = leaf({3.0});
  const auto product = [](const Tensors& in) { return in[0] * in[1]; };
  GradOptions o;
  o.create_graph = true;
  const Tensor g = grad(checkpoint(product, {x, x}), {x}, o)[0];
  expect_near(g, {6});
  expect_near(grad(g, {x})[0], {2});
  expect_near(grad(checkpoint(product, {x, x}), {x})[0], {6});
}

TEST(Checkpoint, NestsAndTakesPartOfItsInputs) {
  const auto inner = [](const Tensors& in) { return sin(in[0]); };
  const auto outer = [&](const Tensors& in) { return square(checkpoint(inner, in)) * in[1]; };
  const Tensor x = leaf({0.7}), c = tensor({2.0}, f64);
  expect_near(grad(checkpoint(outer, {x, c}), {x})[0], {4 * std::sin(0.7) * std::cos(0.7)});
}

TEST(Checkpoint, ReplaysDropout) {
  const Tensor x = ones({1000}, f64).requires_grad_();
  manual_seed(11);
  const auto f = [](const Tensors& in) { return dropout(in[0], 0.5); };
  const Tensor y = checkpoint(f, {x});
  const Tensor after = rand({4});  // numbers drawn in between do not matter
  const Tensor g = grad(sum(y), {x})[0];
  EXPECT_TRUE(equal(g, y.detach()));  // both are the mask, scaled
  const Tensor next = rand({4});
  manual_seed(11);
  EXPECT_TRUE(equal(f({x}), y.detach()));
  EXPECT_TRUE(equal(after, rand({4}))) << "as if f had been called plainly";
  EXPECT_TRUE(equal(next, rand({4}))) << "the backward pass draws nothing of its own";
}

TEST(Checkpoint, RefusesALeafThatIsNoInput) {
  const Tensor x = leaf({1.0, 2.0}), w = leaf({3.0, 4.0});
  const Tensor h = w * 2;
  const auto direct = [&](const Tensors& in) { return in[0] * w; };
  const auto through = [&](const Tensors& in) { return in[0] * h; };
  const Tensor constant = tensor({1.0, 2.0}, f64);
  EXPECT_THROW(backward(sum(checkpoint(direct, {x}))), GraphError);
  EXPECT_THROW(grad(sum(checkpoint(through, {x})), {x}), GraphError);
  GradOptions o;
  o.create_graph = true;
  EXPECT_THROW(grad(sum(checkpoint(direct, {x})), {x}, o), GraphError);
  EXPECT_THROW((void)checkpoint(direct, {constant}), GraphError);
  EXPECT_FALSE(x.grad().defined());
  const NoGrad scope;
  expect_near(checkpoint(direct, {x}), {3, 8});
}

TEST(Checkpoint, WithoutGradientIsThePlainCall) {
  const Tensor x = tensor({1.0, 2.0}, f64);
  const Tensor y = checkpoint([](const Tensors& in) { return square(in[0]); }, {x});
  EXPECT_FALSE(y.requires_grad());
  expect_near(y, {1, 4});
}

// ------------------------------------------------------------------ where formulas break

TEST(Norm, IsZeroAtZeroAndScaled) {
  for (const double p : {0.5, 1.0, 2.0, 3.0, static_cast<double>(INFINITY)}) {
    const Tensor x = leaf({0.0, 0.0, 0.0});
    const Tensor y = norm(x, p);
    expect_near(y, {0});
    expect_near(grad(y, {x})[0], {0, 0, 0});
  }
  for (const double v : {1e-19, 1e-30, 1e30}) {
    const Tensor x = tensor({v}, f32).requires_grad_();
    const Tensor y = norm(x);
    EXPECT_FLOAT_EQ(y.item<float>(), static_cast<float>(v));
    expect_near(grad(y, {x})[0], {1}, 1e-6);
  }
}

// PyTorch's choices: at its limits clamp passes the gradient on, hardtanh does not.
TEST(Limits, AreInsideForClampAndOutsideForHardtanh) {
  for (const bool create : {false, true}) {
    const GradOptions o{.create_graph = create};
    const Tensor x = leaf({-2.0, -1.0, 0.0, 0.5, 2.0});
    expect_near(grad(sum(clamp(x, -1, 0.5)), {x}, o)[0], {0, 1, 1, 1, 0});
    expect_near(grad(sum(hardtanh(x, -1, 0.5)), {x}, o)[0], {0, 0, 1, 0, 0});
  }
}

TEST(Sort, CountsNanAsLargest) {
  const Tensor x = tensor({2.0, static_cast<double>(NAN), 1.0});
  EXPECT_EQ(argsort(x).to_vector<int64_t>(), (std::vector<int64_t>{2, 0, 1}));
  EXPECT_EQ(argsort(x, 0, true).to_vector<int64_t>(), (std::vector<int64_t>{1, 0, 2}));
}

TEST(GumbelSoftmax, HardHasTheGradientOfSoft) {
  const Tensor x = leaf({{0.5, -1.0, 2.0}, {0.0, 0.1, 0.2}});
  const Tensor up = tensor({{1.0, 2.0, -1.0}, {0.5, 0.3, 4.0}}, f64);
  const auto gradient = [&](bool hard) {
    manual_seed(5);
    return grad(sum(gumbel_softmax(x, 0.7, hard) * up), {x})[0];
  };
  expect_near(gradient(true), gradient(false).to_vector<double>());
}

TEST(GumbelSoftmax, HardChoosesEachClassWithItsProbability) {
  manual_seed(6);
  const Tensor x = expand(tensor({0.0, std::log(2.0), std::log(5.0)}, f64), {40000, 3});
  expect_near(mean(gumbel_softmax(x, 0.7, true), 0), {0.125, 0.25, 0.625}, 0.01);
}

TEST(Atan2, HasNoGradientAtTheOriginAndAFiniteOneNearIt) {
  const Tensor y = tensor({0.0, 1e-30, 1e30}, f32).requires_grad_();
  const Tensor x = tensor({0.0, 1e-30, 1e30}, f32).requires_grad_();
  const Tensors g = grad(sum(atan2(y, x)), {y, x});
  EXPECT_EQ(g[0].to_vector<float>()[0], 0);
  EXPECT_FLOAT_EQ(g[0].to_vector<float>()[1], 5e29F);
  EXPECT_FLOAT_EQ(g[1].to_vector<float>()[2], -5e-31F);
}

TEST(GridSample, IgnoresWhatLiesOutside) {
  const Tensor x = full({1, 1, 2, 2}, NAN, f64);
  const Tensor grid = full({1, 1, 1, 2}, 9, f64).requires_grad_();
  const Tensor y = grid_sample(x, grid);
  expect_near(y, {0});
  expect_near(grad(sum(y), {grid})[0], {0, 0});
}

TEST(Results, AreOutsideTheStorageOfTheirInputs) {
  const Tensor x = ones({3, 3});
  for (const Tensor& y :
       {einsum("ij->ji", {x}), einsum("ij->ij", {x}), pad(x, {-1, 0}), pad(x, {}),
        repeat_interleave(x, 1, 0), meshgrid({x[0]})[0], roll(x, 0, 0), unfold(x, 0, 3, 1), diag(x),
        tril(x, 9), interpolate(unsqueeze(unsqueeze(x, 0), 0), 3, 3)}) {
    y.fill_(7);
  }
  EXPECT_TRUE(equal(x, ones({3, 3})));
}

}  // namespace
}  // namespace fovea
