// Luong's local attention: windows, the predicted place, and how it learns.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/core/random.h"
#include "fovea/nn/attention/local.h"
#include "fovea/ops/ops.h"
#include "fovea/optim/sgd.h"
#include "tests/op_cases/refused.h"

namespace fovea {
namespace {

using cases::ErrorKind;
using cases::refused;

// Queries and keys of zeros: softmax is even over the window.
Tensor even_weights(const LocalAttention& l, int64_t tq, int64_t tk, const Tensor& words = {},
                    int64_t first_step = 0) {
  const Tensor keys = zeros({1, tk, 2}, f64);
  return l(zeros({1, tq, 2}, f64), keys, keys, words, first_step).weights;
}

TEST(LocalAttention, MonotonicWindowsFollowTheStep) {
  const LocalAttention l(make_score("dot", {}), {.centre = LocalCentre::monotonic, .window = 1});
  EXPECT_EQ(l.parameters().size(), 0u);
  const double h = 0.5, t = 1.0 / 3;
  const Tensor want = tensor(
      {{{h, h, 0, 0}, {t, t, t, 0}, {0, t, t, t}, {0, 0, h, h}, {0, 0, 0, 1}, {0, 0, 0, 0}}}, f64);
  EXPECT_TRUE(allclose(even_weights(l, 6, 4), want, 1e-15, 0));
  for (int64_t i = 0; i < 6; ++i) {  // one step at a time
    EXPECT_TRUE(equal(even_weights(l, 1, 4, {}, i), narrow(even_weights(l, 6, 4), 1, i, 1)));
  }
  const Tensor words = tensor({{true, true, true, false}});
  EXPECT_TRUE(allclose(narrow(even_weights(l, 4, 4, words), 1, 2, 2),
                       tensor({{{0.0, h, h, 0.0}, {0.0, 0.0, 1.0, 0.0}}}, f64), 1e-15, 0));
}

// A query of zeros predicts the middle: p = S / 2, of the words, not of the padding.
TEST(LocalAttention, PredictedWindowsAreBellsAroundP) {
  const LocalAttention l(make_score("dot", {}), {.window = 2, .query_dim = 2, .dtype = f64});
  const auto bell = [](double away) { return std::exp(-away * away / 2); };  // sigma = 1
  EXPECT_TRUE(allclose(
      even_weights(l, 1, 8),
      tensor({{{0.0, 0.0, bell(2) / 5, bell(1) / 5, 0.2, bell(1) / 5, bell(2) / 5, 0.0}}}, f64),
      1e-14, 0));
  const Tensor words = tensor({{true, true, true, true, true, false, false, false}});
  EXPECT_TRUE(allclose(
      even_weights(l, 1, 8, words),  // p = 2.5
      tensor({{{0.0, bell(1.5) / 4, bell(0.5) / 4, bell(0.5) / 4, bell(1.5) / 4, 0.0, 0.0, 0.0}}},
             f64),
      1e-14, 0));
}

// p lies between 0 and S and moves to where the wanted value is, by gradient descent alone.
TEST(LocalAttention, LearnsWhereToLook) {
  manual_seed(2);
  LocalAttention l(make_score("dot", {}), {.window = 6, .query_dim = 2, .hidden = 4, .dtype = f64});
  const Tensor q = ones({1, 1, 2}, f64), keys = zeros({1, 10, 2}, f64);
  const Tensor values = reshape(to(one_hot(tensor({7}), 10), f64), {1, 10, 1});  // 1 at word 7
  const Tensor length = full({1, 1, 1}, 10, f64);
  const double before = l.predict(q, length).item();
  EXPECT_GT(before, 0);
  EXPECT_LT(before, 10);
  SGD optimiser(l.parameters(), {.lr = 1});
  for (int step = 0; step < 200; ++step) {
    optimiser.zero_grad();
    (-sum(l(q, keys, values).context)).backward();
    optimiser.step();
  }
  EXPECT_GT(std::fabs(before - 7), 0.5);
  EXPECT_NEAR(l.predict(q, length).item(), 7, 0.5);
}

TEST(LocalAttention, SaysWhatIsWrong) {
  const auto says = [](ErrorKind kind, const char* part, auto f) {
    EXPECT_EQ(refused("LocalAttention", kind, {part}, [&] { (void)f(); }), "");
  };
  const auto dot = [] { return std::shared_ptr<Score>(make_score("dot", {})); };
  const Tensor x = zeros({2, 3, 4});
  const LocalAttention l(dot(), {.query_dim = 4});
  says(ErrorKind::shape, "keep_mask is [3, 3]; need (B, Tk) = [2, 3]", [&] {
    return l(x, x, x, ones({3, 3}, boolean));
  });
  says(ErrorKind::dtype, "keep_mask is f32 [2, 3]", [&] { return l(x, x, x, ones({2, 3})); });
  says(ErrorKind::shape, "values is [2, 4, 4]", [&] { return l(x, x, zeros({2, 4, 4})); });
  says(ErrorKind::shape, "q is [2, 3, 5]; need (B, Tq, 4)", [&] {
    return l(zeros({2, 3, 5}), zeros({2, 3, 5}), x);
  });
  says(ErrorKind::value, "score is null", [] { return LocalAttention(nullptr, {.query_dim = 4}); });
  says(ErrorKind::value, "query_dim is 0", [&] { return LocalAttention(dot(), {}); });
  says(ErrorKind::value, "window is 0",
       [&] { return LocalAttention(dot(), {.window = 0, .query_dim = 4}); });
  says(ErrorKind::value, "window is -1",
       [&] { return LocalAttention(dot(), {.centre = LocalCentre::monotonic, .window = -1}); });
  const LocalAttention m(dot(), {.centre = LocalCentre::monotonic, .window = 0});
  says(ErrorKind::value, "centre is monotonic", [&] { return m.predict(x, ones({2, 1, 1})); });
}

}  // namespace
}  // namespace fovea
