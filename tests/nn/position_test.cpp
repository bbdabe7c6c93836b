// Positions: known numbers, and what each scheme promises. tests/op_cases/rows_positions.cpp and
// rows_distances.cpp hold the layers against loops.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/nn/position/alibi.h"
#include "fovea/nn/position/distance.h"
#include "fovea/nn/position/learned.h"
#include "fovea/nn/position/relative.h"
#include "fovea/nn/position/rotary.h"
#include "fovea/nn/position/sinusoidal.h"
#include "fovea/nn/position/t5.h"

namespace fovea {
namespace {

double far_apart(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item(); }

void expect_near(const Tensor& a, const std::vector<double>& want, double tolerance) {
  const auto got = a.to_vector();
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance) << i;
}

TEST(Positions, KnownRotations) {
  const Tensor x = tensor({{1.0, 2.0, 3.0, 4.0}}, f64);
  const RotaryPositions neighbours({.dim = 4}), halves({.dim = 4, .pairing = RopePairing::half});
  expect_near(neighbours(x, 1), {-1.14264, 1.92208, 2.95985, 4.02980}, 6e-6);
  expect_near(halves(x, 1), {-1.98411, 1.95990, 2.46238, 4.01980}, 6e-6);
  EXPECT_LE(far_apart(neighbours(x), x), 1e-15);
}

TEST(Positions, KnownSinusoids) {
  expect_near(SinusoidalPositions(5).table(1, 1, f64), {.84147, .54030, .02512, .99968, .00063},
              6e-6);
  EXPECT_EQ(SinusoidalPositions(1).table(3).shape(), Shape({3, 1}));
  EXPECT_EQ(SinusoidalPositions(0).table(3).shape(), Shape({3, 0}));
}

// P[t + k] is P[t] turned, by the same angles for every t.
TEST(Positions, SinusoidsAgreeByDistanceAlone) {
  const Tensor p = SinusoidalPositions(16).table(40, 0, f64);
  const Tensor products = matmul(p, p.t());
  for (const int64_t k : {1, 7, 30}) {
    const Tensor d = diag(products, k);
    EXPECT_LE(far_apart(d, d[0]), 1e-12) << k;
  }
  EXPECT_GT(std::fabs(products.at({0, 1}) - products.at({0, 7})), 0.1);
}

TEST(Positions, RotationsKeepLengthsAndTurnGradientsBack) {
  const Tensor x = randn({2, 5, 8}).requires_grad_();
  const RotaryPositions turn({.dim = 8, .pairing = RopePairing::half});
  const Tensor y = turn(x, 3), up = randn({2, 5, 8});
  EXPECT_LE(far_apart(norm(y, 2, -1), norm(x, 2, -1)), 1e-6);
  y.backward(up);
  EXPECT_TRUE(equal(x.grad(), rope(up, -turn.angles(5, 3), RopePairing::half)));
  EXPECT_LE(far_apart(turn(x.grad(), 3), up), 1e-6);
}

TEST(Positions, RotatedScoresDependOnTheDistanceAlone) {
  const Tensor q = randn({1, 8}, f64), k = randn({1, 8}, f64);
  for (const RopePairing pairing : {RopePairing::interleaved, RopePairing::half}) {
    const RotaryPositions turn({.dim = 8, .pairing = pairing});
    const auto score = [&](int64_t m, int64_t n) { return sum(turn(q, m) * turn(k, n)).item(); };
    for (const int64_t start : {1, 100, 100000}) {
      EXPECT_NEAR(score(start + 4, start), score(4, 0), 1e-9) << start;
      EXPECT_NEAR(score(start, start + 9), score(0, 9), 1e-9) << start;
    }
    EXPECT_GT(std::fabs(score(4, 0) - score(5, 0)), 1e-3);
    EXPECT_GT(std::fabs(score(4, 0) - score(0, 4)), 1e-3);
  }
}

// float32 numbers around 1e6 are 0.06 apart: angles must not be computed with them.
TEST(Positions, AnglesStaySharpFarFromTheStart) {
  const RotaryPositions turn({.dim = 8});
  EXPECT_LE(far_apart(turn.angles(4, 1000003), turn.angles(4, 1000003, f64)), 3e-7);
  const SinusoidalPositions clocks(8);
  EXPECT_LE(far_apart(clocks.table(4, 1000003), clocks.table(4, 1000003, f64)), 1e-7);
  const Tensor x = randn({4, 8});
  EXPECT_LE(far_apart(turn(x, 1000003), turn(x.to(f64), 1000003)), 2e-6);
}

// ------------------------------------------------------------------ what order changes

// How far f(shuffled x) is from shuffled f(x).
double order_matters(const std::function<Tensor(const Tensor&)>& f) {
  manual_seed(5);
  const Tensor x = randn({2, 7, 8}), order = tensor({3, 0, 6, 1, 5, 2, 4}, i64);
  return far_apart(f(index_select(x, 1, order)), index_select(f(x), 1, order));
}

// Two heads of x itself, with a bias of the scores.
Tensor heads_of(const Tensor& x) { return transpose(reshape(x, {2, 7, 2, 4}), 1, 2); }
Tensor whole(const Tensor& y) { return reshape(transpose(y, 1, 2), {2, 7, 8}); }
Tensor biased(const Tensor& x, const Tensor& bias) {
  const Tensor h = heads_of(x);
  return whole(scaled_dot_product_attention(h, h, h, {.bias = bias}));
}

TEST(Positions, AttentionAloneSeesASet) {
  const MultiHeadAttention attend({.d_model = 8, .heads = 2});
  EXPECT_LE(order_matters([&](const Tensor& x) { return attend(x); }), 1e-6);
  EXPECT_LE(order_matters([&](const Tensor& x) { return biased(x, zeros({2, 7, 7})); }), 1e-6);
}

TEST(Positions, EachSchemeMakesOrderMatter) {
  const MultiHeadAttention attend({.d_model = 8, .heads = 2});
  const SinusoidalPositions clocks(8);
  const LearnedPositions learned(7, 8);
  const RotaryPositions turn({.dim = 4});
  const AlibiBias alibi(2);
  const T5Bias t5({.heads = 2});
  const ShawRelative shaw({.dim = 4, .max_distance = 3});
  EXPECT_GT(order_matters([&](const Tensor& x) { return attend(clocks(x)); }), 1e-2);
  EXPECT_GT(order_matters([&](const Tensor& x) { return attend(learned(x)); }), 1e-2);
  EXPECT_GT(order_matters([&](const Tensor& x) {
              const Tensor h = heads_of(x);
              const Rotated r = turn(h, h);
              return whole(scaled_dot_product_attention(r.q, r.k, h));
            }),
            1e-2);
  EXPECT_GT(order_matters([&](const Tensor& x) { return biased(x, alibi(7, 7)); }), 1e-2);
  EXPECT_GT(order_matters([&](const Tensor& x) { return biased(x, t5(7, 7)); }), 1e-2);
  EXPECT_GT(order_matters([&](const Tensor& x) {
              const Tensor h = heads_of(x);
              return whole(shaw(h, h, h));
            }),
            1e-2);
  // The two terms of Shaw's vectors, each by itself.
  EXPECT_GT(
      order_matters([&](const Tensor& x) { return biased(x, shaw.score_term(heads_of(x), 7)); }),
      1e-2);
  EXPECT_GT(order_matters([&](const Tensor& x) {
              const Tensor h = heads_of(x);
              return whole(shaw.value_term(attention_weights(h, h)));
            }),
            1e-2);
}

// ------------------------------------------------------------------ behind a cache

TEST(Positions, ATokenBehindACacheStandsAtTheEnd) {
  const Tensor x = randn({2, 6, 8}), last = narrow(x, 1, 5, 1);
  const auto end = [](const Tensor& y) { return narrow(y, -2, 5, 1); };
  const SinusoidalPositions clocks(8);
  const LearnedPositions learned(6, 8);
  const RotaryPositions turn({.dim = 8});
  EXPECT_TRUE(equal(clocks(last, 5), end(clocks(x))));
  EXPECT_TRUE(equal(learned(last, 5), end(learned(x))));
  EXPECT_TRUE(equal(turn(last, 5), end(turn(x))));
  EXPECT_TRUE(equal(turn(last, x).q, end(turn(x, x).q)));
  EXPECT_TRUE(equal(turn(last, x).k, turn(x)));
  const AlibiBias alibi(2);
  EXPECT_TRUE(equal(alibi(1, 6), end(alibi(6, 6))));
  for (const bool both : {false, true}) {
    const T5Bias t5({.heads = 2, .bidirectional = both});
    EXPECT_TRUE(equal(t5(1, 6), end(t5(6, 6)))) << both;
  }
  const ShawRelative shaw({.dim = 8, .max_distance = 3});
  const Tensor q = reshape(x, {2, 1, 6, 8});
  const Tensor all = shaw(q, q, q, {.keep_mask = {}, .causal = Causal::lower_right});
  EXPECT_LE(far_apart(shaw(end(q), q, q), end(all)), 1e-6);
}

// ------------------------------------------------------------------ one scheme at a time

TEST(Positions, LearnedOnesAreRowsOfOneTable) {
  const LearnedPositions learned(6, 2);
  LearnedPositions named = learned;
  EXPECT_EQ(named.named_parameters()[0].first, "weight");  // as GPT-2 names it: wpe.weight
  sum(learned(zeros({3, 2, 2}), 1)).backward();
  expect_near(learned.table.weight.grad(), {0, 0, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0}, 0);
  try {
    (void)learned(zeros({3, 2, 2}), 5);
    FAIL() << "took a token beyond the table";
  } catch (const IndexError& e) {
    EXPECT_STREQ(
        e.what(),
        "LearnedPositions: x is [3, 2, 2], offset is 5; token 6 stands beyond max_len = 6: "
        "cut the sequence, or make the table longer");
  }
}

TEST(Positions, AlibiHalvesHeadByHead) {
  expect_near(AlibiBias(8).slopes(),
              {0.5, 0.25, 0.125, 1.0 / 16, 1.0 / 32, 1.0 / 64, 1.0 / 128, 1.0 / 256}, 0);
  expect_near(AlibiBias(1)(2, 3, f64) * 256, {-1, 0, -1, -2, -1, 0}, 0);
  EXPECT_FALSE(AlibiBias(2)(3, 3).requires_grad());
}

TEST(Positions, DistancesAreLowerRight) {
  EXPECT_TRUE(equal(distances(2, 4), tensor({{-2, -1, 0, 1}, {-3, -2, -1, 0}}, i64)));
  EXPECT_TRUE(equal(distances(2, 1), tensor({{1}, {0}}, i64)));
  EXPECT_EQ(distances(0, 3).shape(), Shape({0, 3}));
}

// What T5's own code gives, its logarithms in float32.
TEST(Positions, T5BucketsAreThoseOfThePaper) {
  struct Known {
    int64_t distance, both, causal;
  };
  for (const Known& k : std::vector<Known>{
           {-200, 15, 31}, {-128, 15, 31}, {-127, 15, 31}, {-113, 15, 31}, {-112, 15, 30},
           {-91, 15, 29},  {-90, 14, 29},  {-64, 14, 26},  {-63, 13, 26},  {-46, 13, 24},
           {-45, 12, 23},  {-33, 12, 21},  {-32, 12, 21},  {-31, 11, 21},  {-23, 11, 18},
           {-22, 10, 18},  {-20, 10, 17},  {-19, 10, 17},  {-18, 10, 16},  {-16, 10, 16},
           {-15, 9, 15},   {-12, 9, 12},   {-11, 8, 11},   {-9, 8, 9},     {-8, 8, 8},
           {-7, 7, 7},     {-1, 1, 1},     {0, 0, 0},      {1, 17, 0},     {7, 23, 0},
           {8, 24, 0},     {11, 24, 0},    {12, 25, 0},    {15, 25, 0},    {16, 26, 0},
           {22, 26, 0},    {23, 27, 0},    {31, 27, 0},    {32, 28, 0},    {45, 28, 0},
           {46, 29, 0},    {63, 29, 0},    {64, 30, 0},    {90, 30, 0},    {91, 31, 0},
           {127, 31, 0},   {128, 31, 0},   {200, 31, 0}}) {
    EXPECT_EQ(t5_bucket(k.distance), k.both) << k.distance;
    EXPECT_EQ(t5_bucket(k.distance, {.bidirectional = false}), k.causal) << k.distance;
  }
}

// The widths of the buckets, counted: 32 of them over -200 ... 200.
TEST(Positions, T5BucketsGrowWithTheDistance) {
  std::vector<int64_t> width(32, 0), one_way(32, 0);
  for (int64_t d = -200; d <= 200; ++d) {
    ++width[static_cast<size_t>(t5_bucket(d))];
    ++one_way[static_cast<size_t>(t5_bucket(d, {.bidirectional = false}))];
  }
  // From n = 8 on, a bucket ends where n doubles for the second time: at 8 * 2^(m / 2).
  std::vector<int64_t> border;
  for (int64_t m = 0; m < 8; ++m) {
    border.push_back(static_cast<int64_t>(std::ceil(8 * std::pow(2.0, m / 2.0) - 1e-9)));
  }
  border.push_back(201);
  for (size_t b = 0; b < 16; ++b) {
    const int64_t want = b < 8 ? 1 : border[b - 7] - border[b - 8];
    EXPECT_EQ(width[b], want) << b;
    EXPECT_EQ(width[b + 16], b == 0 ? 0 : want) << b;
  }
  EXPECT_EQ(one_way[0], 201);  // itself and all that follow
  for (size_t b = 1; b <= 16; ++b) EXPECT_EQ(one_way[b], b < 16 ? 1 : 3) << b;
  EXPECT_EQ(one_way[31], 200 - 112);  // from 16 * 8^(15 / 16) = 112.4 on
}

TEST(Positions, ShawWithoutVectorsIsAttention) {
  const ShawRelative shaw({.dim = 4, .max_distance = 2});
  shaw.keys.detach().zero_();
  shaw.values.detach().zero_();
  const Tensor q = randn({2, 2, 3, 4}), k = randn({2, 2, 5, 4}), v = randn({2, 2, 5, 4});
  EXPECT_LE(far_apart(shaw(q, k, v), scaled_dot_product_attention(q, k, v)), 1e-6);
  EXPECT_LE(far_apart(shaw(q, k, v, {.keep_mask = {}, .causal = Causal::lower_right}),
                      scaled_dot_product_attention(q, k, v, {.causal = Causal::lower_right})),
            1e-6);
}

TEST(Positions, ShawHidesWhatTheMaskTakesOut) {
  const ShawRelative shaw({.dim = 4, .max_distance = 2});
  const Tensor q = randn({1, 2, 3, 4}), k = randn({1, 2, 3, 4});
  const Tensor keep = tensor({{{{1, 1, 0}}}}, boolean);
  const Tensor broken = where(reshape(keep, {3, 1}), k, full({}, std::nan("")));
  EXPECT_TRUE(
      equal(shaw(q, broken, broken, {.keep_mask = keep}), shaw(q, k, k, {.keep_mask = keep})));
}

}  // namespace
}  // namespace fovea
