// The tester tested: every planted mistake must be found.
#include "fovea/core/gradcheck.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/error.h"
#include "tests/core/counted_op.h"

namespace fovea {
namespace {

using testing::with_gradient;

Tensor input(const Shape& shape, uint64_t seed = 1) {
  Generator g(seed);
  return randn(shape, f64, &g).requires_grad_();
}

struct PlantedSoftmax {
  static constexpr const char* name = "planted_softmax";
  double scale = 1;  // of the gradient
  double dot = 1;    // of the term that couples the classes
  Tensor forward(SaveList& save, const Tensor& x) {
    const Tensor y = softmax(x);
    save.output(y);
    return y;
  }
  Tensor backward(const Saved& s, const Tensor& gy) {
    return s[0] * (gy - dot * sum(s[0] * gy, -1, keepdim)) * scale;
  }
};

GradcheckReport planted(double scale, double dot) {
  return gradcheck(
      [=](const Tensors& x) {
        return apply(PlantedSoftmax{scale, dot}, x[0]);
      },
      {input({3, 4})});
}

TEST(Gradcheck, AcceptsWhatIsRight) {
  const auto r = planted(1, 1);
  EXPECT_TRUE(r.ok) << r.message;
  EXPECT_LE(r.error, 1e-9);
  EXPECT_TRUE(static_cast<bool>(r));
}

TEST(Gradcheck, RejectsPlantedMistakes) {
  EXPECT_FALSE(planted(2, 1).ok);
  EXPECT_FALSE(planted(-5, 1).ok) << "a plain sum of a softmax has gradient 0 and sees nothing";
  EXPECT_FALSE(planted(1, 0).ok);
  EXPECT_FALSE(planted(1, 0.999).ok);
  EXPECT_FALSE(planted(1 + 1e-6, 1).ok);
  EXPECT_FALSE(planted(0, 1).ok);
  EXPECT_FALSE(planted(NAN, 1).ok);
  EXPECT_FALSE(planted(INFINITY, 1).ok);
}

TEST(Gradcheck, RejectsANanInOneElement) {
  const auto r = gradcheck(
      [](const Tensors& x) {
        return with_gradient(x[0], [](const Tensor& g) {
          const Tensor c = g.clone();
          c.data<double>()[3] = NAN;
          return c;
        });
      },
      {input({5})});
  EXPECT_FALSE(r.ok);
  EXPECT_TRUE(std::isnan(r.error));
  EXPECT_NE(r.message.find("[3]"), std::string::npos) << r.message;
}

TEST(Gradcheck, RejectsANanInTheValue) {
  const auto r = gradcheck([](const Tensors& x) { return x[0] * NAN; }, {input({2})});
  EXPECT_FALSE(r.ok);
}

TEST(Gradcheck, RejectsAMissingGradient) {
  const auto r =
      gradcheck([](const Tensors& x) { return x[0] * x[1].detach(); }, {input({2}), input({2}, 2)});
  EXPECT_FALSE(r.ok);
  EXPECT_NE(r.message.find("input 1"), std::string::npos) << r.message;
}

TEST(Gradcheck, ChecksOneWrongElementOfMany) {
  const auto r = gradcheck(
      [](const Tensors& x) {
        return with_gradient(x[0], [](const Tensor& g) {
          const Tensor c = g.clone();
          c.data<double>()[57] *= 1.001;
          return c;
        });
      },
      {input({10, 10})});
  EXPECT_FALSE(r.ok);
  EXPECT_NE(r.message.find("[5, 7]"), std::string::npos) << r.message;
  for (const char* part : {"input 0", "analytic", "numeric"}) {
    EXPECT_NE(r.message.find(part), std::string::npos) << r.message;
  }
}

struct WrongSecond {  // right once, wrong twice
  static constexpr const char* name = "wrong_second";
  Tensor forward(SaveList& save, const Tensor& x) {
    save.extra("twice", x * 2);
    return x * x;
  }
  Tensor backward(const Saved& s, const Tensor& gy) { return gy * s[0]; }
};

TEST(Gradgradcheck, SeesAConstantWhereAVariableShouldBe) {
  const TensorFunction f = [](const Tensors& x) { return apply(WrongSecond{}, x[0]); };
  const auto first = gradcheck(f, {input({4})});
  EXPECT_TRUE(first.ok) << first.message;
  EXPECT_FALSE(gradgradcheck(f, {input({4})}).ok);
}

TEST(Gradgradcheck, AcceptsWhatIsRight) {
  const auto r = gradgradcheck([](const Tensors& x) { return softmax(x[0]) * tanh(x[1]); },
                               {input({3, 4}), input({4}, 2)});
  EXPECT_TRUE(r.ok) << r.message;
  const auto linear_only = gradgradcheck([](const Tensors& x) { return x[0] * 2; }, {input({3})});
  EXPECT_TRUE(linear_only.ok) << linear_only.message;
}

TEST(Gradcheck, ReplaysRandomNumbers) {
  manual_seed(99);
  const RandomKey before = default_generator().state();
  const TensorFunction f = [](const Tensors& x) { return dropout(x[0], 0.5) * rand({40}, f64); };
  const auto r = gradcheck(f, {input({40})});
  EXPECT_TRUE(r.ok) << r.message;
  EXPECT_TRUE(gradgradcheck(f, {input({40})}).ok);
  EXPECT_EQ(default_generator().state().stream, before.stream) << "the caller's numbers go on";
  EXPECT_EQ(default_generator().state().seed, before.seed);
}

TEST(Gradcheck, RejectsAGeneratorOfItsOwn) {
  Generator g(1);
  const auto r =
      gradcheck([&](const Tensors& x) { return dropout(x[0], 0.5, true, &g); }, {input({40})});
  EXPECT_FALSE(r.ok);
}

TEST(Gradcheck, RefusesInputsItCannotMove) {
  const TensorFunction f = [](const Tensors& x) { return x[0] * 2; };
  EXPECT_THROW((void)gradcheck(f, {input({1, 3}).detach().expand({2, 3}).requires_grad_()}),
               GraphError);
  EXPECT_THROW((void)gradcheck(f, {ones({2}).requires_grad_()}), DTypeError);
  EXPECT_THROW((void)gradcheck(f, {ones({2}, f64)}), GraphError);
}

TEST(Gradcheck, PutsTheInputsBack) {
  const Tensor x = input({3, 4});
  const auto before = x.to_vector();
  (void)gradcheck([](const Tensors& in) { return exp(in[0]); }, {x});
  EXPECT_EQ(x.to_vector(), before);
  EXPECT_FALSE(x.grad().defined());
}

TEST(Gradcheck, MovesElementsOfOddLayouts) {
  const Tensor x = input({4, 6}).detach().t().slice(0, 0, kEnd, 2).requires_grad_();
  const auto r = gradcheck([](const Tensors& in) { return sum(exp(in[0]) * in[0], 0); }, {x});
  EXPECT_TRUE(r.ok) << r.message;
}

TEST(Gradcheck, WorksInsideNoGrad) {
  const Tensor x = input({3});
  const EnableGrad on;
  EXPECT_TRUE(gradcheck([](const Tensors& in) { return exp(in[0]); }, {x}).ok);
}

}  // namespace
}  // namespace fovea
