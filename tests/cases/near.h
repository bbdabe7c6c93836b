// What the cases compare with. NaN is near nothing.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fovea/core/engine.h"
#include "fovea/core/parallel.h"
#include "fovea/ops/ops.h"

namespace fovea::testing {

using List = std::vector<double>;

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline void expect_near(const Tensor& x, const List& want, double tolerance,
                        const std::string& what = "") {
  const auto got = x.to_vector();
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_TRUE(got[i] == want[i] || std::fabs(got[i] - want[i]) <= tolerance)
        << what << " element " << i << ": " << got[i] << ", want " << want[i];
  }
}

/// Restores the number of threads.
class ThreadScope {
 public:
  ThreadScope() : before_(threads()) {}
  ~ThreadScope() { set_threads(before_); }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

/// How a gradient can be asked for: each takes another way through the rules.
enum class Way { fused, formula, recorded };
inline constexpr Way kWays[] = {Way::fused, Way::formula, Way::recorded};
inline const char* name(Way w) {
  return w == Way::fused ? "fused" : w == Way::formula ? "formula" : "recorded";
}

/// What y does not depend on gets zeros.
inline Tensors gradients(const Tensor& y, const Tensors& xs, Way way, const Tensor& upstream = {}) {
  const GradOptions o{.create_graph = way == Way::recorded,
                      .retain_graph = true,
                      .allow_unused = true,
                      .upstream = upstream};
  Tensors g;
  if (way == Way::formula) {
    const FormulaRules scope;
    g = grad(y, xs, o);
  } else {
    g = grad(y, xs, o);
  }
  for (size_t i = 0; i < g.size(); ++i) {
    if (!g[i].defined()) g[i] = zeros_like(xs[i]);
  }
  return g;
}

inline Tensor leaf(const Tensor& x) { return clone(x.detach()).requires_grad_(); }
inline Tensor leaf_of(const Values& v, DType t) { return tensor(v, t).requires_grad_(); }

}  // namespace fovea::testing
