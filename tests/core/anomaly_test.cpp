#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "tests/core/counted_op.h"

namespace fovea {
namespace {

using testing::leaf;
using testing::message_of;
using testing::with_gradient;

TEST(Anomaly, NamesTheOpThatMadeANanForward) {
  const AnomalyMode mode;
  const Tensor x = leaf(-1);
  const std::string m = message_of<GraphError>([&] { (void)(log(x) * 2); });
  EXPECT_EQ(m.rfind("log: forward", 0), 0u) << m;
}

TEST(Anomaly, LooksAtConstantsAsWell) {
  const AnomalyMode mode;
  EXPECT_THROW((void)sqrt(full({2}, -1)), GraphError);
}

TEST(Anomaly, NamesTheOpThatMadeANanBackward) {
  const Tensor x = leaf(2), z = leaf(1);
  const Tensor y = with_gradient(x, [](const Tensor& g) { return g * NAN; });
  const AnomalyMode mode;
  const std::string m = message_of<GraphError>([&] { (y * z).backward(); });
  EXPECT_TRUE(m.find("with_gradient: backward") != std::string::npos ||
              m.find("mul") != std::string::npos)
      << m;
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(z.grad().defined());
}

TEST(Anomaly, NamesTheOpWhoseFusedRuleMadeANan) {
  const AnomalyMode mode;
  const Tensor x = leaf(0);
  const Tensor y = rsqrt(x);
  const std::string m = message_of<GraphError>([&] { y.backward(zeros_like(y)); });  // 0 inf^3
  EXPECT_EQ(m.rfind("rsqrt: backward", 0), 0u) << m;
  EXPECT_FALSE(x.grad().defined());
}

TEST(Anomaly, InfinitiesAreLegalUnlessAskedFor) {
  const Tensor x = tensor({0.0, 1.0}, f64).requires_grad_();
  {
    const AnomalyMode mode;
    const Tensor y = log(x);
    EXPECT_EQ(y.at({0}), -INFINITY);
    EXPECT_EQ(softmax(y).at({0}), 0);
  }
  const AnomalyMode strict({.infinite = true});
  EXPECT_EQ(message_of<GraphError>([&] { (void)log(x); }).rfind("log: forward", 0), 0u);
}

TEST(Anomaly, EndsWithItsScopeAndNests) {
  const Tensor x = leaf(-1);
  {
    const AnomalyMode outer({.infinite = true});
    {
      const AnomalyMode inner;
      EXPECT_THROW((void)log(x), GraphError);
      (void)log(leaf(0));
    }
    EXPECT_THROW((void)log(leaf(0)), GraphError);
  }
  EXPECT_TRUE(std::isnan(log(x).item()));
}

TEST(Anomaly, CleanGraphsPass) {
  const AnomalyMode mode;
  const Tensor x = leaf(2);
  (log(x) * exp(x)).backward();
  EXPECT_NEAR(x.grad().item(), std::exp(2.0) * (0.5 + std::log(2.0)), 1e-12);
}

}  // namespace
}  // namespace fovea
