// Layers that sum tokens up: padding takes part in nothing, and a direction needs a length.
#include <gtest/gtest.h>

#include "fovea/core/engine.h"
#include "fovea/nn/attention/efficient_additive.h"
#include "fovea/nn/attention/fastformer.h"
#include "fovea/ops/ops.h"
#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::kInf;
using testing::kNan;
using testing::leaf;

// Layers over tokens: a sentence alone, and with padding, NaN in it, beside one of nothing else.
template <class L>
void padded_layer(const L& layer) {
  const Tensor x = randn({1, 4, 6}, f64), garbage = full({1, 3, 6}, kNan, f64);
  const Tensor one = leaf(x), two = leaf(cat({cat({x, garbage}, 1), full({1, 7, 6}, kInf, f64)}));
  const Tensor keep = zeros({2, 7}, boolean);
  narrow(keep.select(0, 0), 0, 0, 4).fill_(true);
  const auto gradients = [&](const Tensor& loss, const Tensor& input) {
    layer.zero_grad();
    Tensors all = layer.parameters();
    all.push_back(input);
    return grad(loss, all);
  };
  const Tensor y = layer(one), both = layer(two, keep);
  const Tensor same = narrow(narrow(both, 0, 0, 1), 1, 0, 4);
  EXPECT_TRUE(allclose(same, y, 1e-12, 1e-13));
  EXPECT_TRUE(equal(narrow(both[0], 0, 4, 3), zeros({3, both.size(2)}, f64)));
  EXPECT_TRUE(equal(both[1], zeros({7, both.size(2)}, f64)));
  const Tensors want = gradients(sum(square(y)), one), got = gradients(sum(square(both)), two);
  for (size_t i = 0; i + 1 < want.size(); ++i) {
    EXPECT_TRUE(allclose(got[i], want[i], 1e-10, 1e-11)) << i;
  }
  EXPECT_TRUE(allclose(narrow(narrow(got.back(), 0, 0, 1), 1, 0, 4), want.back(), 1e-10, 1e-11));
  EXPECT_TRUE(equal(narrow(got.back()[0], 0, 4, 3), zeros({3, 6}, f64)));
  EXPECT_TRUE(equal(got.back()[1], zeros({7, 6}, f64)));
  EXPECT_EQ(layer(zeros({2, 0, 6}, f64)).shape(), Shape({2, 0, both.size(2)}));
}

TEST(CasesTokenAttention, PaddingChangesNothing) {
  manual_seed(4);
  padded_layer(EfficientAdditiveAttention({.d_model = 6, .heads = 2, .dtype = f64}));
  padded_layer(EfficientAdditiveAttention({.d_model = 6, .width = 5, .dtype = f64}));
  padded_layer(FastAdditiveAttention({.d_model = 6, .heads = 3, .dtype = f64}));
  padded_layer(FastAdditiveAttention({.d_model = 6, .width = 5, .heads = 3, .dtype = f64}));
}

// A token of zeros without biases has no direction: 0 everywhere, and finite.
TEST(CasesTokenAttention, ATokenOfZeros) {
  const EfficientAdditiveAttention bare({.d_model = 6, .bias = false, .dtype = f64});
  const Tensor none = zeros({1, 3, 6}, f64).requires_grad_();
  const Tensor y = bare(none);
  EXPECT_TRUE(equal(y, zeros({1, 3, 6}, f64)));
  EXPECT_TRUE(all(isfinite(grad(sum(y), {none})[0])));
}

}  // namespace
}  // namespace fovea
