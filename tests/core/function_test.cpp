// Operations written by users.
#include "fovea/core/function.h"

#include <gtest/gtest.h>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/core/gradcheck.h"
#include "tests/core/counted_op.h"

namespace fovea {
namespace {

using testing::leaf;
using testing::message_of;

struct Cube {
  static constexpr const char* name = "cube";
  Tensor forward(SaveList& save, const Tensor& x) {
    save.input("x", x);
    return x * x * x;
  }
  Tensor backward(const Saved& s, const Tensor& gy) { return gy * 3 * s[0] * s[0]; }
};

struct SharedExp {
  static constexpr const char* name = "shared_exp";
  double rate = 1;
  Tensor forward(SaveList& save, const Tensor& x) {
    const Tensor y = exp(x * rate);
    save.output(y);
    return y;
  }
  Tensor backward(const Saved& s, const Tensor& gy) { return gy * s[0] * rate; }
};

struct Product {
  static constexpr const char* name = "product";
  Tensor forward(SaveList& save, const Tensor& a, const Tensor& b) {
    save.input("a", a);
    save.input("b", b);
    return a * b;
  }
  auto backward(const Saved& s, const Tensor& gy) {
    return grads(s.wants(0) ? gy * s[1] : Tensor(), s.wants(1) ? gy * s[0] : Tensor());
  }
};

struct Rounded {  // straight through: rounds forward, copies backward
  static constexpr const char* name = "rounded";
  Tensor forward(SaveList&, const Tensor& x) { return round(x); }
  Tensor backward(const Saved&, const Tensor& gy) { return gy; }
};

struct Identity {
  static constexpr const char* name = "identity";
  Tensor forward(SaveList&, const Tensor& x) { return x; }
  Tensor backward(const Saved&, const Tensor& gy) { return gy * 5; }
};

struct TooMany {
  static constexpr const char* name = "too_many";
  Tensor forward(SaveList&, const Tensor& x) { return x * 1; }
  auto backward(const Saved&, const Tensor& gy) { return grads(gy, gy); }
};

Tensors inputs(std::initializer_list<Shape> shapes) {
  Generator g(3);
  Tensors out;
  for (const Shape& s : shapes) out.push_back(randn(s, f64, &g).requires_grad_());
  return out;
}

TEST(UserOp, PassesBothGradientChecks) {
  const TensorFunction cube = [](const Tensors& x) { return apply(Cube{}, x[0]); };
  const TensorFunction shared = [](const Tensors& x) {
    return apply(SharedExp{.rate = 0.5}, x[0]);
  };
  const TensorFunction product = [](const Tensors& x) { return apply(Product{}, x[0], x[1]); };
  for (const auto& [f, in] : {std::pair{cube, inputs({{2, 3}})}, std::pair{shared, inputs({{4}})},
                              std::pair{product, inputs({{2, 3}, {3}})}}) {
    const auto first = gradcheck(f, in), second = gradgradcheck(f, in);
    EXPECT_TRUE(first.ok) << first.message;
    EXPECT_TRUE(second.ok) << second.message;
  }
}

TEST(UserOp, IsRecordedUnderItsName) {
  const Tensor x = leaf(2);
  const Tensor y = apply(Cube{}, x);
  EXPECT_TRUE(y.requires_grad());
  EXPECT_STREQ(y.node()->op, "cube");
  EXPECT_FALSE(apply(Cube{}, full({}, 2, f64)).requires_grad());
  const NoGrad scope;
  EXPECT_FALSE(apply(Cube{}, x).requires_grad());
}

TEST(UserOp, StraightThrough) {
  const Tensor x = leaf(1.7);
  const Tensor y = apply(Rounded{}, x);
  EXPECT_EQ(y.item(), 2);
  (y * 3).backward();
  EXPECT_EQ(x.grad().item(), 3);
}

TEST(UserOp, MayReturnItsInput) {
  const Tensor x = leaf(2);
  const Tensor y = apply(Identity{}, x);
  EXPECT_TRUE(x.is_leaf());
  y.backward();
  EXPECT_EQ(x.grad().item(), 5);
  const Tensor h = x * 2;
  const Tensor z = apply(Identity{}, h);
  EXPECT_STREQ(h.node()->op, "mul");
  x.zero_grad();
  (z + h).backward();
  EXPECT_EQ(x.grad().item(), 12);
}

TEST(UserOp, SeesInPlaceChangesOfWhatItSaved) {
  const Tensor a = full({2}, 2, f64), b = ones({2}, f64).requires_grad_();
  const Tensor y = sum(apply(Product{}, a, b));
  a.add_(1);
  const std::string m = message_of<GraphError>([&] { y.backward(); });
  EXPECT_NE(m.find("product"), std::string::npos) << m;
  EXPECT_NE(m.find("`a`"), std::string::npos) << m;
}

TEST(UserOp, AWrongNumberOfGradientsIsNamed) {
  const Tensor x = leaf(2);
  const std::string m = message_of<GraphError>([&] { apply(TooMany{}, x).backward(); });
  EXPECT_NE(m.find("too_many"), std::string::npos) << m;
}

TEST(NotDifferentiable, RaisesWhenReachedAndOnlyThen) {
  const Tensor x = leaf(2);
  const Tensor y = record("sampled", x.detach() * 2, {x}, {}, not_differentiable("sampled"));
  EXPECT_TRUE(y.requires_grad());
  const std::string m = message_of<GraphError>([&] { (y + x).backward(); });
  EXPECT_NE(m.find("sampled"), std::string::npos) << m;
  EXPECT_FALSE(x.grad().defined());
  (y.detach() + x).backward();
  EXPECT_EQ(x.grad().item(), 1);
}

TEST(SaveIf, KeepsNothingThatNobodyWants) {
  const Tensor x = leaf(2);
  const Tensor y = record("op", x.detach() * 2, {x}, {save_if(false, save_input("x", x))},
                          [](const Saved& s, const Tensor& g) {
                            EXPECT_FALSE(s[0].defined());
                            return g;
                          });
  y.backward();
}

}  // namespace
}  // namespace fovea
