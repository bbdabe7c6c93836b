#include "fovea/optim/clip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/core/error.h"
#include "fovea/core/parallel.h"
#include "fovea/ops/ops.h"

namespace {

using namespace fovea;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor with_grad(const Tensor& g) {
  const Tensor p = zeros(g.shape(), g.dtype()).requires_grad_();
  p.set_grad(g);
  return p;
}
Tensor with_grad(const Values& v, DType t) { return with_grad(tensor(v, t)); }

class ClipNorm : public ::testing::TestWithParam<DType> {
 protected:
  const DType t = GetParam();
  const double tolerance = t == f32 ? 1e-7 : 1e-15;
};
INSTANTIATE_TEST_SUITE_P(DTypes, ClipNorm, ::testing::Values(f32, f64),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST_P(ClipNorm, ScalesToTheLimit) {
  const Tensor p = with_grad({3.0, 4.0}, t);
  EXPECT_EQ(clip_grad_norm({p}, 1), 5);
  EXPECT_THAT(p.grad().to_vector(),
              ElementsAre(DoubleNear(.6, tolerance), DoubleNear(.8, tolerance)));
}

TEST_P(ClipNorm, LeavesSmallAndZeroGradientsAlone) {
  const Tensor p = with_grad({3.0, 4.0}, t);
  EXPECT_EQ(clip_grad_norm({p}, 5), 5);
  EXPECT_THAT(p.grad().to_vector(), ElementsAre(3, 4));
  const Tensor z = with_grad({0.0, 0.0}, t);
  for (double norm_type : {1.0, 2.0, 3.0, kInf}) {
    EXPECT_EQ(clip_grad_norm({z}, 0, {.norm_type = norm_type}), 0);
    EXPECT_THAT(z.grad().to_vector(), ElementsAre(0, 0));
  }
  EXPECT_EQ(clip_grad_norm({zeros({2})}, 1), 0);  // none has a gradient
  EXPECT_EQ(clip_grad_norm({}, 1), 0);
}

TEST_P(ClipNorm, ScalesEveryPieceOfALargeGradient) {
  const Tensor p = with_grad(full({40000}, 3, t));
  EXPECT_NEAR(clip_grad_norm({p}, 1), 600, 1e-9);
  EXPECT_NEAR(max(p.grad()).item(), .005, 1e-9);
  EXPECT_NEAR(min(p.grad()).item(), .005, 1e-9);
}

TEST_P(ClipNorm, HoldsWhereSquaresOverflow) {
  const double big = t == f32 ? 1e30 : 1e200;
  const Tensor p = with_grad({big, big}, t);
  EXPECT_NEAR(clip_grad_norm({p}, 1) / big, std::sqrt(2.0), 1e-7);
  EXPECT_THAT(p.grad().to_vector(),
              ElementsAre(DoubleNear(std::sqrt(.5), 1e-7), DoubleNear(std::sqrt(.5), 1e-7)));
  const double small = t == f32 ? 1e-30 : 1e-200;
  EXPECT_NEAR(clip_grad_norm({with_grad({small, small}, t)}, 1) / small, std::sqrt(2.0), 1e-7);
  // The factor 1 / norm is no normal float.
  const Tensor huge = with_grad(full({400}, 1e38, t));
  EXPECT_NEAR(clip_grad_norm({huge}, 1) / 2e39, 1, 1e-6);
  EXPECT_NEAR(huge.grad().at({399}), .05, 1e-6);
}

TEST_P(ClipNorm, ReportsNonFiniteGradientsAndLeavesThemAlone) {
  for (double bad : {kInf, -kInf, std::nan("")}) {
    for (double norm_type : {1.0, 2.0, 3.0, kInf}) {
      const Tensor p = with_grad({bad, 1.0}, t), q = with_grad({5.0}, t);
      EXPECT_FALSE(std::isfinite(clip_grad_norm({q, p}, 1, {.norm_type = norm_type})));
      EXPECT_EQ(p.grad().at({1}), 1);
      EXPECT_EQ(q.grad().at({0}), 5);
      EXPECT_THROW(clip_grad_norm({q, p}, 1, {.norm_type = norm_type, .error_if_nonfinite = true}),
                   ValueError);
      EXPECT_EQ(q.grad().at({0}), 5);
    }
  }
}

TEST_P(ClipNorm, KnowsOtherNorms) {
  const Tensor p = with_grad({1.0, -2.0}, t), q = with_grad({{2.0}, {-4.0}}, t);
  EXPECT_EQ(clip_grad_norm({p, q}, 100, {.norm_type = 1}), 9);
  EXPECT_EQ(clip_grad_norm({p, q}, 100, {.norm_type = kInf}), 4);
  EXPECT_NEAR(clip_grad_norm({p, q}, 100, {.norm_type = 3}), std::cbrt(1 + 8 + 8 + 64), 1e-12);
  EXPECT_EQ(clip_grad_norm({p, q, p}, 100), 5);  // p once
  clip_grad_norm({p, q}, 2, {.norm_type = kInf});
  EXPECT_THAT(q.grad().to_vector(), ElementsAre(1, -2));
}

TEST_P(ClipNorm, ScalesAnyLayoutAndRaisesTheVersion) {
  const Tensor base = full({2, 3}, 2, t), other = ones({2}, t);
  const Tensor p = with_grad(base.t()), q = with_grad(other);
  const uint32_t version = other.version();
  EXPECT_NEAR(clip_grad_norm({p, q}, std::sqrt(6.5)), std::sqrt(26.0), 1e-12);
  EXPECT_NEAR(base.at({1, 2}), 1, 1e-6);
  EXPECT_NEAR(other.at({1}), .5, 1e-6);
  EXPECT_GT(other.version(), version);
}

TEST(ClipNorm, RefusesWrongOptions) {
  EXPECT_THROW(clip_grad_norm({}, -1), ValueError);
  EXPECT_THROW(clip_grad_norm({}, std::nan("")), ValueError);
  EXPECT_THROW(clip_grad_norm({}, 1, {.norm_type = 0}), ValueError);
}

TEST(ClipNorm, GivesTheSameBitsOnAnyNumberOfThreads) {
  const int before = threads();
  std::vector<double> norms;
  for (int n : {1, 2, 8}) {
    set_threads(n);
    manual_seed(1);
    norms.push_back(clip_grad_norm({with_grad(randn({300001})), with_grad(randn({5}))}, 1));
  }
  set_threads(before);
  EXPECT_EQ(norms[0], norms[1]);
  EXPECT_EQ(norms[0], norms[2]);
}

TEST(ClipValue, LimitsEveryElement) {
  const Tensor p = with_grad({-3.0, .5, std::nan(""), kInf}, f32);
  clip_grad_value({p}, 1);
  EXPECT_EQ(p.grad().at({0}), -1);
  EXPECT_EQ(p.grad().at({1}), .5);
  EXPECT_TRUE(std::isnan(p.grad().at({2})));
  EXPECT_EQ(p.grad().at({3}), 1);
  EXPECT_THROW(clip_grad_value({p}, -1), ValueError);
}

}  // namespace
