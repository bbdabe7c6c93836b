// Linear attention at length, and the estimates that stand for softmax and Gaussian attention.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fovea/core/allocator.h"
#include "fovea/core/engine.h"
#include "fovea/core/gradcheck.h"
#include "fovea/ops/nystrom_attention.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

double error_of(const Tensor& x, const Tensor& want) {
  return (norm(x - want) / norm(want)).item();
}

// The same by the definition, with all pairs in memory.
Tensor dense(const Tensor& fq, const Tensor& fk, const Tensor& v, bool causal) {
  Tensor a = matmul(fq, transpose(fk, -2, -1));
  if (causal) a = tril(a, fk.size(-2) - fq.size(-2));
  const Tensor n = sum(a, -1, true);
  return matmul(a, v) / where(n > 0, n, ones({}, n.dtype()));
}

// Lengths around the borders of chunks and pieces, the widths odd.
TEST(LinearAttention, EqualsAllPairs) {
  manual_seed(1);
  const std::vector<std::array<int64_t, 3>> sizes{
      {1, 1, 1},     {1, 63, 64},   {2, 64, 64}, {1, 65, 65},    {1, 128, 127},
      {1, 130, 700}, {1, 700, 130}, {3, 129, 1}, {20, 129, 200}, {1, 1500, 1500}};
  for (const auto& [heads, tq, tk] : sizes) {
    for (bool causal : {false, true}) {
      const Tensors x{rand({heads, tq, 7}, f64).requires_grad_(),
                      rand({heads, tk, 7}, f64).requires_grad_(),
                      randn({heads, tk, 5}, f64).requires_grad_()};
      const Tensor y = feature_attention(x[0], x[1], x[2], {.causal = causal});
      const Tensor want = dense(x[0], x[1], x[2], causal);
      EXPECT_LE(max(abs(y - want)).item(), 1e-12) << heads << " " << tq << " " << tk << causal;
      const GradOptions o{.upstream = randn(y.shape(), f64)};
      const Tensors g = grad(y, x, o), h = grad(want, x, o);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_LE(max(abs(g[i] - h[i])).item(), 1e-11 * (1 + max(abs(h[i])).item()))
            << i << " of " << heads << " " << tq << " " << tk << causal;
      }
    }
  }
}

// Peak memory of a training step above what is held before it.
int64_t peak(int64_t tokens, bool causal) {
  const Tensors x{rand({2, tokens, 32}).requires_grad_(), rand({2, tokens, 32}).requires_grad_(),
                  randn({2, tokens, 32}).requires_grad_()};
  const int64_t before = memory_stats().live_bytes;
  reset_peak_memory();
  sum(feature_attention(x[0], x[1], x[2], {.causal = causal})).backward();
  return memory_stats().peak_bytes - before;
}

// The result, three gradients, what goes up and one row more: no state a token, nothing of T x T.
TEST(LinearAttention, MemoryGrowsWithTheTokens) {
  for (bool causal : {false, true}) {
    const int64_t of_operand = 2 * 16384 * 32 * 4;
    const int64_t half = peak(8192, causal), whole = peak(16384, causal);
    EXPECT_LE(whole, 7 * of_operand) << causal;
    EXPECT_LE(static_cast<double>(whole), 2.1 * static_cast<double>(half)) << causal;
  }
}

// Sums over many tokens keep their digits.
TEST(LinearAttention, LongSequencesInFloats) {
  manual_seed(6);
  const Tensor fq = rand({1, 100000, 2}), fk = rand({1, 100000, 2}) + 0.5, v = rand({1, 100000, 1});
  for (bool causal : {false, true}) {
    const Tensor y = feature_attention(fq, fk, v, {.causal = causal});
    const Tensor exact =
        feature_attention(to(fq, f64), to(fk, f64), to(v, f64), {.causal = causal});
    EXPECT_LE(max(abs(to(y, f64) - exact) / abs(exact)).item(), 1e-6) << causal;
  }
}

TEST(OrthogonalFeatures, SameSeedSameBits) {
  Generator a(9), b(9), c(10);
  const Tensor x = orthogonal_features(20, 6, f32, &a), y = orthogonal_features(20, 6, f32, &b);
  EXPECT_TRUE(equal(x, y));
  EXPECT_FALSE(equal(x, orthogonal_features(20, 6, f32, &a)));
  EXPECT_FALSE(equal(x, orthogonal_features(20, 6, f32, &c)));
  EXPECT_EQ(orthogonal_features(0, 4).shape(), Shape({0, 4}));
  EXPECT_EQ(orthogonal_features(3, 0).shape(), Shape({3, 0}));
}

// Each row alone is N(0, I): second moments of elements 1, products of two 0, squared lengths d
// with variance 2 d.
TEST(OrthogonalFeatures, RowsAreGaussian) {
  Generator g(1);
  const int64_t d = 4, n = 20000;
  const Tensor w = orthogonal_features(n, d, f64, &g);
  const Tensor moments = matmul(transpose(w, 0, 1), w) / static_cast<double>(n);
  EXPECT_LE(max(abs(moments - eye(d, f64))).item(), 0.05);
  EXPECT_LE(max(abs(mean(w, 0))).item(), 0.03);
  const Tensor lengths = sum(square(w), 1);
  EXPECT_NEAR(mean(lengths).item(), 4, 0.1);
  EXPECT_NEAR(var(lengths).item(), 8, 0.4);
}

// The kernel that features estimate, exp(q'k / sqrt D), is met in the mean: the mean of many draws
// of few features lies within five of its own standard errors, for both kinds of pairs.
TEST(Performer, TheKernelIsUnbiased) {
  manual_seed(8);
  const int64_t d = 3, m = 3, draws = 20000;
  const Tensor q = randn({1, d}, f64) * 0.4, k = randn({1, d}, f64) * 0.4;
  const double root = std::pow(static_cast<double>(d), 0.25);
  const Tensor w = orthogonal_features(m * draws, d, f64);  // blocks of d rows: one draw each
  const auto phi = [&](const Tensor& x) {
    const Tensor s = x / root;
    return exp(matmul(w, transpose(s, 0, 1)) - sum(square(s)) * 0.5);
  };
  const Tensor estimates = mean(reshape(phi(q) * phi(k), {draws, m}), 1);
  const double exact = std::exp(sum(q * k).item() / std::sqrt(3.0));
  const double standard_error = std(estimates).item() / std::sqrt(static_cast<double>(draws));
  EXPECT_NEAR(mean(estimates).item(), exact, 5 * standard_error);
  EXPECT_LT(standard_error, 0.02 * exact);
}

// More features, less error: softmax attention in the limit.
TEST(Performer, ConvergesToSoftmaxAttention) {
  manual_seed(2);
  const Tensor q = randn({1, 2, 20, 4}, f64) * 0.5, k = randn({1, 2, 30, 4}, f64) * 0.5;
  const Tensor v = randn({1, 2, 30, 4}, f64);
  for (bool causal : {false, true}) {
    const Tensor want = scaled_dot_product_attention(
        q, k, v, {.causal = causal ? Causal::lower_right : Causal::none});
    double last = 2;
    for (int64_t m : {16, 256, 4096}) {
      double error = 0;
      for (int i = 0; i < 4; ++i) {
        const Tensor w = orthogonal_features(m, 4, f64);
        error += error_of(performer_attention(q, k, v, w, {.causal = causal}), want) / 4;
      }
      EXPECT_LT(error, last / 2.5) << m << " features";  // a factor of 4 is expected
      last = error;
    }
    EXPECT_LT(last, 0.06);
  }
}

// exp of what floats cannot hold: the maxima cancel. One key alone is given whole, however far
// below 1 its features lie.
TEST(Performer, LargeExponents) {
  manual_seed(3);
  const Tensor q = randn({8, 4}) * 30, k = randn({9, 4}) * 30, v = randn({9, 4});
  const Tensor y = performer_attention(q, k, v, orthogonal_features(32, 4));
  EXPECT_TRUE(all(isfinite(y)));
  EXPECT_LE(max(abs(y)).item(), max(abs(v)).item() * 1.0001);
  const Tensor one =
      performer_attention(q / 30, k[0].unsqueeze(0), v[0].unsqueeze(0), orthogonal_features(32, 4));
  EXPECT_TRUE(allclose(one, expand(v[0], {8, 4}), 1e-6, 0));
}

Tensor dense_kernel(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor d = unsqueeze(q, -2) - unsqueeze(k, -3);
  return matmul(exp(sum(square(d), -1) * (-0.5 / std::sqrt(static_cast<double>(q.size(-1))))), v);
}

// With a landmark for every key nothing is approximated, whatever the queries; with fewer, the
// error falls as they grow in number.
TEST(Nystrom, ExactWhereEveryKeyIsALandmark) {
  manual_seed(4);
  const Tensors x{randn({2, 3, 6, 4}, f64).requires_grad_(),
                  (randn({2, 3, 9, 4}, f64) * 1.5).detach().requires_grad_(),
                  randn({2, 3, 9, 5}, f64).requires_grad_()};
  const NystromOptions o{.landmarks = 9, .iterations = 60};
  const Tensor y = soft_attention_nystrom(x[0], x[1], x[2], o);
  const Tensor want = dense_kernel(x[0], x[1], x[2]);
  EXPECT_LE(max(abs(y - want)).item(), 1e-9);
  const GradOptions up{.upstream = randn(y.shape(), f64)};
  const Tensors g = grad(y, x, up), h = grad(want, x, up);
  for (size_t i = 0; i < 3; ++i) EXPECT_LE(max(abs(g[i] - h[i])).item(), 1e-7) << i;
  // Tokens that move slowly along the sequence, as those of an image do.
  const Tensor t = linspace(0, 6, 48, f64);
  const Tensor tokens = stack({sin(t), cos(t), sin(t * 2), t / 3}, 1);
  const Tensor v = randn({48, 3}, f64), all = dense_kernel(tokens, tokens, v);
  double last = 1;
  for (int64_t landmarks : {2, 6, 16}) {
    const double error = error_of(
        soft_attention_nystrom(tokens, tokens, v, {.landmarks = landmarks, .iterations = 40}), all);
    EXPECT_LT(error, last) << landmarks;
    last = error;
  }
  EXPECT_LT(last, 0.1);
}

// The inverse as a piece of its own: its value, its gradients of any order, and matrices that have
// no inverse.
// Weights depend on differences alone, wherever queries and keys lie.
TEST(Nystrom, FarFrom0) {
  manual_seed(12);
  const Tensor q = randn({1, 2, 9, 8}) + 1000, k = randn({1, 2, 11, 8}) + 1000;
  const Tensor v = randn({1, 2, 11, 8}), keep = arange(11) < 9.0;
  for (const Tensor& mask : {Tensor(), keep}) {
    const NystromOptions o{.keep_mask = mask, .landmarks = 4};
    const Tensor y = soft_attention_nystrom(q, k, v, o);
    const Tensor exact =
        soft_attention_nystrom(to(q, f64) - 1000, to(k, f64) - 1000, to(v, f64), o);
    EXPECT_LE(max(abs(to(y, f64) - exact)).item(), 1e-4 * max(abs(exact)).item());
  }
}

TEST(Nystrom, TheInverse) {
  manual_seed(5);
  const Tensor b = randn({2, 4, 4}, f64);
  const Tensor a = matmul(b, transpose(b, 1, 2)) + eye(4, f64);
  const Tensor y = detail::newton_inverse(a, 60);
  EXPECT_LE(max(abs(matmul(y, a) - eye(4, f64))).item(), 1e-10);
  // Moved along symmetric directions: it is what Newton's method wants of its matrix.
  const auto f = [](const Tensors& x) {
    const Tensor s = matmul(x[0], transpose(x[0], 1, 2)) + eye(4, f64);
    return detail::newton_inverse(s, 60);
  };
  const Tensors in{b.requires_grad_()};
  const auto first = gradcheck(f, in);
  EXPECT_TRUE(first.ok) << first.message;
  const auto second = gradgradcheck(f, in);
  EXPECT_TRUE(second.ok) << second.message;
  for (int64_t n : {1, 2, 5}) {  // of equal rows: eigenvalue n, and 0
    const Tensor one = detail::newton_inverse(ones({n, n}, f64), 30);
    const double want = 1 / static_cast<double>(n * n);
    EXPECT_LE(max(abs(one - want)).item(), 1e-12) << n;
  }
  EXPECT_TRUE(all(isfinite(soft_attention_nystrom(zeros({8, 3}), zeros({8, 3}), ones({8, 2})))));
}

// Tokens the mask hides are in no landmark: results do not depend on them, nor on how many there
// are (see PaddingChangesNothing); with more landmarks than kept keys the result is exact.
TEST(Nystrom, MoreLandmarksThanKeys) {
  manual_seed(7);
  const Tensor q = randn({5, 4}, f64), k = randn({8, 4}, f64) * 1.5, v = randn({8, 3}, f64);
  const Tensor keep = tensor({false, true, false, true, true, false, false, true});
  const Tensor at = tensor({1, 3, 4, 7});
  const Tensor y =
      soft_attention_nystrom(q, k, v, {.keep_mask = keep, .landmarks = 6, .iterations = 60});
  const Tensor want = dense_kernel(q, index_select(k, 0, at), index_select(v, 0, at));
  EXPECT_LE(max(abs(y - want)).item(), 1e-9);
}

// Sparse weights: exactly 0 where masked, and where a score is too low; dropout on the weights; a
// bias of -inf is a mask.
TEST(SparseAttention, Weights) {
  manual_seed(1);
  const Tensor q = randn({2, 4, 3}, f64) * 3, k = randn({2, 6, 3}, f64);
  const Tensor v = eye(6, f64).reshape({1, 6, 6}).repeat({2, 1, 1});  // shows the weights
  const Tensor keep = tensor({true, true, false, true, true, false});
  const Tensor scores = matmul(q, transpose(k, 1, 2)) / std::sqrt(3.0);
  for (const auto& [attention, map] :
       {std::pair(
            &sparsemax_attention, +[](const Tensor& x) { return sparsemax(x, -1); }),
        std::pair(
            &entmax15_attention, +[](const Tensor& x) { return entmax15(x, -1); })}) {
    const Tensor w = attention(q, k, v, {});
    EXPECT_TRUE(allclose(w, map(scores), 1e-14, 1e-15));
    EXPECT_TRUE(any(w == 0));
    const Tensor masked = attention(q, k, v, {.keep_mask = keep});
    const Tensor at = tensor({0, 1, 3, 4});
    EXPECT_TRUE(allclose(index_select(masked, 2, at), map(index_select(scores, 2, at)), 1e-14, 0));
    EXPECT_TRUE(equal(index_select(masked, 2, tensor({2, 5})), zeros({2, 4, 2}, f64)));
    EXPECT_TRUE(allclose(sum(masked, -1), ones({2, 4}, f64), 1e-14, 0));
    const Tensor bias = where(keep, zeros({}, f64), full({}, -INFINITY, f64));
    EXPECT_TRUE(equal(attention(q, k, v, {.bias = bias}), masked));
    EXPECT_TRUE(
        equal(attention(q, k, v, {.bias = full({6}, -INFINITY, f64)}), zeros({2, 4, 6}, f64)));
    EXPECT_TRUE(equal(attention(q, k, v, {.dropout = 1}), zeros({2, 4, 6}, f64)));
    Generator g(3), again(3);
    const Tensor dropped = attention(q, k, v, {.dropout = 0.5, .generator = &g});
    EXPECT_TRUE(equal(dropped, dropout(w, 0.5, true, &again)));
  }
}

}  // namespace
}  // namespace fovea
