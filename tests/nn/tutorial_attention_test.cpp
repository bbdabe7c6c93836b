// What tutorials write, and where they differ: AdditiveAttention, DotProductAttention,
// SelfAttention, hard_attention_sample.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/core/random.h"
#include "fovea/nn/attention/additive_attention.h"
#include "fovea/nn/attention/additive_scores.h"
#include "fovea/nn/attention/dot_product_attention.h"
#include "fovea/nn/attention/hard_sample.h"
#include "fovea/nn/attention/self_attention.h"
#include "fovea/ops/ops.h"
#include "tests/op_cases/refused.h"

namespace fovea {
namespace {

using cases::ErrorKind;
using cases::refused;

TEST(AdditiveAttention, IsAdditiveScoreForOneQuery) {
  const AdditiveAttention l({.query_dim = 3, .key_dim = 2, .hidden_dim = 4, .dtype = f64});
  AdditiveScore score({.query_dim = 3, .key_dim = 2, .hidden = 4, .dtype = f64});
  score.w_q = l.w_q;
  score.w_k = l.w_k;
  score.v = l.v.weight[0];
  const Tensor q = randn({2, 3}, f64), keys = randn({2, 5, 2}, f64);
  EXPECT_TRUE(equal(l(q, keys), select(score(unsqueeze(q, 1), keys), 1, 0)));
  EXPECT_EQ(l.parameters().size(), 3u);
}

TEST(DotProductAttention, IsTheFusedOperation) {
  DotProductAttention l;
  l.eval();
  const Tensor q = randn({2, 3, 4}, f64), k = randn({2, 5, 4}, f64), v = randn({2, 5, 2}, f64);
  const auto [output, weights] = l(q, k, v);
  EXPECT_TRUE(allclose(output, scaled_dot_product_attention(q, k, v), 1e-13, 1e-15));
  EXPECT_TRUE(allclose(weights, attention_weights(q, k), 1e-13, 1e-15));
  EXPECT_NEAR(l.dropout.p, 0.1, 0);
}

TEST(DotProductAttention, DropsWeightsOnlyWhileTraining) {
  DotProductAttention l(0.5);
  const Tensor x = randn({1, 40, 4}, f64);
  const SoftAttended a = l(x, x, x);
  EXPECT_FALSE(allclose(a.context, matmul(a.weights, x), 1e-3));
  EXPECT_TRUE(allclose(sum(a.weights, -1), ones({1, 40}, f64), 1e-12));
  l.eval();
  EXPECT_TRUE(allclose(l(x, x, x).context, matmul(a.weights, x), 1e-12, 1e-14));
}

// Two tokens, one head of width 2 of an embedding of 4: the copies of the tutorial on one input.
Tensor tokens() { return tensor({{{2.0, 0.0, 0.0, 1.0}, {0.0, 2.0, 1.0, 0.0}}}, f64); }

TEST(SelfAttention, ScalesByTheWidthOfAHead) {
  SelfAttentionOptions o{.embed_size = 4, .heads = 2, .project = false, .dtype = f64};
  const Tensor x = tokens();
  // Head 0 of token 0 scores 4 with itself and 0 with the other; head 1 scores 1 and 0.
  const auto first = [&](int64_t head) {
    return SelfAttention(o).weights(x, x).at({0, head, 0, 0});
  };
  const auto sigmoid_of = [](double s) { return 1 / (1 + std::exp(-s)); };
  EXPECT_NEAR(first(0), sigmoid_of(4 / std::sqrt(2.0)), 1e-15);
  EXPECT_NEAR(first(1), sigmoid_of(1 / std::sqrt(2.0)), 1e-15);
  o.scale = AttentionScale::embed;
  EXPECT_NEAR(first(0), sigmoid_of(4 / 2.0), 1e-15);  // flatter
  EXPECT_NEAR(first(1), sigmoid_of(1 / 2.0), 1e-15);
}

TEST(SelfAttention, ProjectsEveryHeadAlike) {
  const SelfAttention l({.embed_size = 4, .heads = 2, .dtype = f64});
  EXPECT_EQ(l.queries.weight.shape(), Shape({2, 2}));
  EXPECT_EQ(l.parameters().size(), 5u);
  const NoGrad scope;
  l.queries.weight.copy_(tensor({{3, 0}, {0, 3}}));
  l.keys.weight.copy_(tensor({{0, 1}, {1, 0}}));  // keys of a token are those of the other
  const Tensor a = l.weights(tokens(), tokens());
  for (int64_t head : {0, 1}) {
    const double score = head == 0 ? 4 : 1;
    EXPECT_NEAR(a.at({0, head, 0, 1}), 1 / (1 + std::exp(-3 * score / std::sqrt(2.0))), 1e-14);
  }
}

// "nhqk,nvhd->nqhd" sums the weights away: every query gets the sum of all values.
TEST(SelfAttention, TheOtherEinsumForgetsTheScores) {
  const Tensor values = reshape(tokens(), {1, 2, 2, 2});
  const auto weights_of = [](double score) {  // of both heads and queries, towards key 0
    return softmax(expand(tensor({score, 0.0}, f64), {1, 2, 2, 2}), -1);
  };
  const auto mixed = [&](const char* equation, double score) {
    return einsum(equation, {weights_of(score), values});
  };
  const char *right = "nhqk,nkhd->nqhd", *wrong = "nhqk,nvhd->nqhd";
  EXPECT_FALSE(allclose(mixed(right, 0), mixed(right, 3), 0.1));
  EXPECT_TRUE(allclose(mixed(wrong, 0), mixed(wrong, 3), 1e-14));
  EXPECT_TRUE(allclose(mixed(wrong, 3), expand(sum(values, 1, true), {1, 2, 2, 2}), 1e-14));
  // and so nothing reaches the scores, whatever the upstream gradient is
  for (const char* equation : {right, wrong}) {
    const Tensor s = randn({1, 2, 2, 2}, f64).requires_grad_();
    const Tensor y = einsum(equation, {softmax(s, -1), values});
    const double largest = max(abs(grad(y, {s}, {.upstream = randn(y.shape(), f64)})[0])).item();
    EXPECT_EQ(largest > 1e-14, equation == right) << equation << " " << largest;
  }
}

TEST(HardAttentionSample, DrawsAsOftenAsTheWeightsSay) {
  Generator g(9);
  const Tensor probs = expand(tensor({0.0, 0.2, 0.8, 0.0}), {20000, 4});
  const Tensor i = hard_attention_sample(probs, &g);
  EXPECT_EQ(i.shape(), Shape({20000, 1}));
  EXPECT_EQ(i.dtype(), i64);
  EXPECT_GE(min(i).item<int64_t>(), 1);
  EXPECT_LE(max(i).item<int64_t>(), 2);
  EXPECT_NEAR(mean(to(i, f64)).item(), 1.8, 0.01);
  Generator again(9);
  EXPECT_TRUE(equal(i, hard_attention_sample(probs, &again)));
  const Tensor values = randn({1, 4, 3});
  const Tensor c =
      select(values, 1, hard_attention_sample(tensor({{0, 0, 0, 1}}, f32)).item<int64_t>());
  EXPECT_TRUE(equal(c, select(values, 1, 3)));
}

TEST(TutorialAttention, SaysWhatIsWrong) {
  const auto says = [](ErrorKind kind, const char* name, const char* part, auto f) {
    EXPECT_EQ(refused(name, kind, {part}, [&] { (void)f(); }), "");
  };
  const Tensor x = zeros({2, 3, 4});
  const SelfAttention self(4, 2);
  says(ErrorKind::shape, "SelfAttention", "k is undefined", [&] { return self(x, {}, x); });
  says(ErrorKind::shape, "SelfAttention", "q is [1, 3, 4], k is [2, 3, 4]", [&] {
    return self(x, x, zeros({1, 3, 4}));
  });
  says(ErrorKind::shape, "SelfAttention", "v is [2, 2, 4], k is [2, 3, 4]", [&] {
    return self(zeros({2, 2, 4}), x, x);
  });
  says(ErrorKind::shape, "SelfAttention", "keep_mask is [7, 3]", [&] {
    return self(x, x, x, ones({7, 3}, boolean));
  });
  says(ErrorKind::value, "SelfAttention", "embed_size is 10, heads is 3",
       [] { return SelfAttention(10, 3); });
  const AdditiveAttention additive(4, 4, 3);
  says(ErrorKind::shape, "AdditiveAttention", "query is undefined",
       [&] { return additive({}, x); });
  says(ErrorKind::shape, "AdditiveAttention", "keys is [3, 3, 4]", [&] {
    return additive(zeros({2, 4}), zeros({3, 3, 4}));
  });
  says(ErrorKind::value, "AdditiveAttention", "hidden_dim is 0",
       [] { return AdditiveAttention(4, 4, 0); });
  says(ErrorKind::shape, "hard_attention_sample", "probs is [2, 3, 4]",
       [&] { return hard_attention_sample(x); });
  EXPECT_THROW((void)hard_attention_sample(zeros({2, 3})), ValueError);
}

}  // namespace
}  // namespace fovea
