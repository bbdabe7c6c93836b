// Norms, deviations and roots at 0, where the true slope is infinite or has no direction: gradient
// 0, and a second derivative that is a number; and norms so small or large that squares are not.
#include "fovea/optim/clip.h"
#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::expect_near;
using testing::gradients;
using testing::kInf;
using testing::kWays;
using testing::List;
using testing::Way;

constexpr double kPowers[] = {.5, 1, 1.5, 2, 3, 7, kInf};

TEST(Cases, NormsOfZerosHaveGradientZeroTwice) {
  for (DType t : {f32, f64}) {
    for (double p : kPowers) {
      for (const Axes& axes : {Axes{}, Axes{0}, Axes{1, 2}, Axes{0, 2}}) {
        for (const Way way : kWays) {
          const Tensor x = zeros({2, 3, 2}, t).requires_grad_();
          const Tensor y = norm(x, p, axes);
          EXPECT_TRUE(all(y == 0));
          const Tensor g = gradients(sum(y), {x}, way)[0];
          EXPECT_EQ(g.to_vector(), List(12, 0)) << "p = " << p << ", " << name(way);
          if (way != Way::recorded || !g.requires_grad()) continue;
          const Tensor twice = grad(sum(g + square(g)), {x}, {.allow_unused = true})[0];
          if (twice.defined()) {
            EXPECT_TRUE(all(isfinite(twice))) << "p = " << p;
          }
        }
      }
    }
  }
}

// A row of zeros beside another takes nothing from it, nor gives.
TEST(Cases, NormsOfSomeZeroRows) {
  for (double p : kPowers) {
    const Tensor x = tensor({{0.0, 0.0}, {0.0, -2.0}}, f64).requires_grad_();
    const Tensor g = grad(sum(norm(x, p, 1)), {x}, {.create_graph = true})[0];
    EXPECT_EQ(g.to_vector(), (List{0, 0, 0, -1})) << p;
    if (g.requires_grad()) {
      const Tensor twice = grad(sum(square(g)), {x}, {.allow_unused = true})[0];
      if (twice.defined()) {
        EXPECT_TRUE(all(isfinite(twice))) << p;
      }
    }
  }
}

TEST(Cases, NormsBeyondTheRangeOfSquares) {
  struct Row {
    DType t;
    double v;
  };
  for (const Row& r :
       {Row{f32, 1e-19}, Row{f32, 1e-37}, Row{f32, 1e30}, Row{f64, 1e-200}, Row{f64, 1e300}}) {
    for (double p : kPowers) {
      for (const Way way : kWays) {
        const Tensor x = full({1}, r.v, r.t).requires_grad_();
        const Tensor y = norm(x, p);
        EXPECT_NEAR(y.item() / r.v, 1, 1e-6) << r.v << ", p = " << p;
        EXPECT_NEAR(gradients(y, {x}, way)[0].item(), 1, 1e-6) << r.v << ", p = " << p;
      }
    }
    const Tensor pair = full({2}, r.v, r.t).requires_grad_();
    expect_near(grad(norm(pair), {pair})[0], {std::sqrt(.5), std::sqrt(.5)}, 1e-6);
  }
}

TEST(Cases, RootsAndDeviationsAtZeroTwice) {
  for (DType t : {f32, f64}) {
    for (const Way way : kWays) {
      const Tensor z = zeros({2, 3}, t).requires_grad_();
      const Tensor c = full({2, 3}, .1, t).requires_grad_();
      const Tensor values[] = {sum(sqrt(z)), sum(std(c, 1)), std(c), sum(std(c, {0, 1}, 0)),
                               sqrt(sum(square(z)))};
      for (const Tensor& y : values) {
        const Tensor& x = &y == &values[0] || &y == &values[4] ? z : c;
        EXPECT_EQ(y.item(), 0);
        const Tensor g = gradients(y, {x}, way)[0];
        EXPECT_EQ(g.to_vector(), List(6, 0));
        if (way == Way::recorded) {
          EXPECT_TRUE(all(isfinite(grad(sum(g + square(g)), {x})[0])));
        }
      }
    }
  }
}

// The same inside clipping.
TEST(Cases, ClippingAtTheEndsOfTheRange) {
  struct Row {
    DType t;
    double v;
  };
  for (const Row& r : {Row{f32, 0}, Row{f32, 1e-19}, Row{f64, 1e-200}, Row{f32, 1e30}}) {
    for (double p : {1.0, 2.0, 3.0, kInf}) {
      const Tensor w = zeros({2}, r.t).requires_grad_();
      w.set_grad(tensor({r.v, 0.0}, r.t));
      const double total = clip_grad_norm({w}, 1, {.norm_type = p});
      EXPECT_NEAR(total, r.v, 1e-6 * r.v) << p;
      EXPECT_NEAR(w.grad().at({0}), std::fmin(1, r.v), 1e-6 * std::fmin(1, r.v)) << p;
      EXPECT_EQ(w.grad().at({1}), 0);
    }
  }
}

}  // namespace
}  // namespace fovea
