#include "fovea/nn/functional_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/core/gradcheck.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"
#include "fovea/ops/ops.h"

namespace {

using namespace fovea;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Mlp : Module {
  Linear hidden{{.in = 3, .out = 4, .dtype = f64}}, out{{.in = 4, .out = 2, .dtype = f64}};
  Tensor operator()(const Tensor& x) const { return out(tanh(hidden(x))); }
  void visit(Visitor& v) override { v("hidden", hidden), v("out", out); }
};

TEST(FunctionalCall, ReplacesAndRestores) {
  Mlp m;
  const Tensor x = randn({5, 3}, f64), before = m(x), old = m.hidden.weight;
  const Tensor w = randn({4, 3}, f64);
  const Tensor y = functional_call(m, {{"hidden.weight", w}}, [&] { return m(x); });
  EXPECT_TRUE(m.hidden.weight.same_as(old));
  EXPECT_TRUE(equal(m(x), before));
  EXPECT_TRUE(equal(y, m.out(tanh(linear(x, w, m.hidden.bias)))));
  EXPECT_THROW((void)functional_call(m, {{"hidden.weight", w}},
                                     [&]() -> Tensor { throw std::runtime_error("inside"); }),
               std::runtime_error);
  EXPECT_TRUE(m.hidden.weight.same_as(old));
}

TEST(FunctionalCall, IsAFunctionOfItsParameters) {
  Mlp m;
  const Tensor x = randn({5, 3}, f64);
  const auto f = [&](const Tensors& p) {
    return functional_call(m, {{"hidden.weight", p[0]}, {"out.bias", p[1]}}, [&] { return m(x); });
  };
  const Tensors p{randn({4, 3}, f64).requires_grad_(), randn({2}, f64).requires_grad_()};
  EXPECT_TRUE(gradcheck(f, p)) << gradcheck(f, p).message;
  EXPECT_TRUE(gradgradcheck(f, p)) << gradgradcheck(f, p).message;
}

// The gradient of the loss after a step of gradient descent reaches back through the step.
TEST(FunctionalCall, DifferentiatesThroughATrainingStep) {
  Linear m({.in = 1, .out = 1, .bias = false, .dtype = f64});
  m.weight.detach().fill_(2);
  const Tensor loss = sum(square(m.weight));
  const Tensor g = grad(loss, {m.weight}, {.create_graph = true})[0];
  const Tensor after =
      functional_call(m, {{"weight", m.weight - g * 0.1}}, [&] { return sum(square(m.weight)); });
  EXPECT_NEAR(after.item(), 1.6 * 1.6, 1e-12);
  EXPECT_NEAR(grad(after, {m.weight})[0].item(), 2 * 2 * 0.64, 1e-12);  // d/dw (0.8 w)^2
}

struct Tied : Module {
  Embedding in{{.count = 3, .dim = 2, .dtype = f64}};
  Linear out{{.in = 2, .out = 3, .bias = false, .dtype = f64}};
  Tied() { out.weight = in.weight; }
  void visit(Visitor& v) override { v("in", in), v("out", out); }
};

TEST(FunctionalCall, ReplacesTiedNamesTogether) {
  Tied m;
  const Tensor w = randn({3, 2}, f64), other = randn({3, 2}, f64);
  for (const char* name : {"in.weight", "out.weight"}) {
    const ReplacedParameters scope(m, {{name, w}});
    EXPECT_TRUE(m.in.weight.same_as(w));
    EXPECT_TRUE(m.out.weight.same_as(w));
  }
  EXPECT_THROW(ReplacedParameters(m, {{"in.weight", w}, {"out.weight", other}}), ValueError);
  EXPECT_NO_THROW(ReplacedParameters(m, {{"in.weight", w}, {"out.weight", w}}));
}

TEST(FunctionalCall, TellsAllThatDoesNotFit) {
  Mlp m;
  const Tensor old = m.out.bias;
  try {
    const ReplacedParameters scope(
        m, {{"out.bias", zeros({2}, f64)}, {"head.bias", zeros({2})}, {"out.weight", zeros({3})}});
    FAIL();
  } catch (const ShapeError& e) {
    EXPECT_THAT(e.what(),
                AllOf(HasSubstr("extra: head.bias"), HasSubstr("out.weight: is [3], need [2, 4]")));
  }
  EXPECT_TRUE(m.out.bias.same_as(old));
}

}  // namespace
