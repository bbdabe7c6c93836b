// A gradient does not depend on who else wants one: each input of every operation alone, by the
// fused rule and by the formula, gets what it gets beside the others.
#include <algorithm>

#include "tests/cases/near.h"
#include "tests/op_cases/op_case.h"

namespace fovea {
namespace {

using testing::gradients;
using testing::kWays;
using testing::Way;

// The inputs again, of which only those in `wanted` require a gradient.
Tensors leaves(const cases::OpCase& row, DType t, const std::vector<size_t>& wanted) {
  Tensors x = cases::make_inputs(row.inputs, t, 5);
  for (size_t i = 0; i < x.size(); ++i) {
    const bool keep = std::find(wanted.begin(), wanted.end(), i) != wanted.end();
    if (!keep && x[i].requires_grad()) x[i] = x[i].detach();
  }
  return x;
}

Tensors run(const cases::OpCase& row, DType t, const std::vector<size_t>& wanted, Way way) {
  const Tensors x = leaves(row, t, wanted);
  manual_seed(7);
  const Tensor y = row.f(x);
  if (!y.requires_grad()) return {};  // nothing of it hangs on these
  manual_seed(8);
  const Tensor up = randn(y.shape(), y.dtype());
  Tensors of;
  for (size_t i : wanted) of.push_back(x[i]);
  return gradients(y, of, way, up);
}

TEST(Cases, EachInputGetsItsGradientAlone) {
  for (const cases::OpCase& row : cases::table()) {
    if (!row.has_gradient()) continue;
    std::vector<size_t> every;
    const Tensors x = cases::make_inputs(row.inputs, f64, 5);
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i].requires_grad()) every.push_back(i);
    }
    if (every.size() < 2) continue;
    for (const Way way : kWays) {
      const Tensors together = run(row, f64, every, way);
      for (size_t k = 0; k < every.size(); ++k) {
        const std::string what = row.id() + ", input " + std::to_string(every[k]);
        const Tensors one = run(row, f64, {every[k]}, way);
        const Tensor alone = one.empty() ? zeros_like(together[k]) : one[0];
        EXPECT_TRUE(allclose(alone, together[k], 1e-12, 1e-13)) << what << ", " << name(way);
      }
    }
  }
}

}  // namespace
}  // namespace fovea
