// Every function of one tensor at the numbers where formulas break: infinities, NaN, zeros of both
// signs, denormals, the largest. The fused rule and the formula give the same gradient there, NaN
// only where there is no limit, and at the infinities the limit.
#include <functional>

#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::gradients;
using testing::kInf;
using testing::kNan;
using testing::kWays;
using testing::Way;

bool never(double) { return false; }
bool negative(double x) { return x < 0; }
bool infinite(double x) { return std::isinf(x); }

struct Row {
  const char* name;
  Tensor (*f)(const Tensor&);
  double below, above;  // the gradient at -inf and at inf; NaN: there is none
  /// Where, besides NaN, the value is none, and where the gradient is none.
  bool (*no_value)(double) = never;
  bool (*no_slope)(double) = never;
  bool flat_at_nan = false;  // the gradient of NaN is 0: a choice lets it not through
  bool twice = true;         // has a second derivative at all these numbers
};

const Row kRows[] = {
    {"neg", neg, -1, -1},
    {"abs", abs, -1, 1},
    {"sign", sign, 0, 0, never, never, true},
    {"floor", floor, 0, 0, never, never, true},
    {"ceil", ceil, 0, 0, never, never, true},
    {"round", round, 0, 0, never, never, true},
    {"trunc", trunc, 0, 0, never, never, true},
    {"square", square, -kInf, kInf},
    {"reciprocal", reciprocal, 0, 0, never, never, false, false},
    {"sqrt", sqrt, kNan, 0, negative, negative, false, false},
    {"rsqrt", rsqrt, kNan, 0, negative, negative, false, false},
    {"exp", exp, 0, kInf},
    {"exp2", exp2, 0, kInf},
    {"expm1", expm1, 0, kInf},
    {"log", log, 0, 0, negative, never, false, false},
    {"log2", log2, 0, 0, negative, never, false, false},
    {"log10", log10, 0, 0, negative, never, false, false},
    {"log1p", log1p, 0, 0, [](double x) { return x < -1; }, never, false, false},
    {"sin", sin, kNan, kNan, infinite, infinite, false, false},
    {"cos", cos, kNan, kNan, infinite, infinite, false, false},
    {"erf", erf, 0, 0},
    {"relu", relu, 0, 1, never, never, true},
    {"tanh", tanh, 0, 0},
    {"sigmoid", sigmoid, 0, 0},
    {"log_sigmoid", log_sigmoid, 1, 0},
    {"softplus", softplus, 0, 1},
    {"gelu", gelu, 0, 1},
    {"gelu_tanh", gelu_tanh, 0, 1},
    {"silu", silu, 0, 1},
    {"mish", mish, 0, 1},
    {"elu", [](const Tensor& x) { return elu(x); }, 0, 1},
    {"elu 2", [](const Tensor& x) { return elu(x, 2); }, 0, 1},
    {"leaky_relu", [](const Tensor& x) { return leaky_relu(x, .5); }, .5, 1},
    {"hardtanh", [](const Tensor& x) { return hardtanh(x); }, 0, 0, never, never, true},
    {"clamp", [](const Tensor& x) { return clamp(x, -1, 1); }, 0, 0, never, never, true},
};

template <class T>
std::vector<T> specials() {
  using L = std::numeric_limits<T>;
  std::vector<T> v{L::infinity(), 0,     L::denorm_min(), L::min(), L::max(), T(1e19), T(1e30),
                   T(1000),       T(90), T(20),           T(5),     1,        T(.5)};
  const size_t half = v.size();
  for (size_t i = 0; i < half; ++i) v.push_back(-v[i]);
  v.push_back(L::quiet_NaN());
  return v;
}

bool same(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= tolerance * (1 + std::fabs(b));
}

template <class T>
void check_row(const Row& row, DType t) {
  const auto v = specials<T>();
  const Tensor x = from_vector(v, {static_cast<int64_t>(v.size())}).requires_grad_();
  const Tensor y = row.f(x), up = full(x.shape(), 1, t);
  std::vector<std::vector<double>> g;
  Tensor recorded;
  for (const Way way : kWays) {
    recorded = gradients(y, {x}, way, up)[0];
    g.push_back(recorded.to_vector());
  }
  // Functions whose gradient is a constant have no second derivative to ask for.
  std::vector<double> second(v.size(), 0);
  if (row.twice && recorded.requires_grad()) {
    const Tensor s = grad(recorded, {x}, {.allow_unused = true, .upstream = up})[0];
    if (s.defined()) second = s.to_vector();
  }
  const auto value = y.to_vector();
  for (size_t i = 0; i < v.size(); ++i) {
    // Denormals may count as 0.
    const double at = std::fpclassify(v[i]) == FP_SUBNORMAL ? 0 : static_cast<double>(v[i]);
    SCOPED_TRACE(std::string(row.name) + " " + std::string(name(t)) + " at " + std::to_string(at) +
                 ", number " + std::to_string(i));
    EXPECT_EQ(std::isnan(value[i]), std::isnan(at) || row.no_value(at)) << value[i];
    for (const auto& other : g) {
      EXPECT_TRUE(same(other[i], g[0][i], t == f32 ? 1e-6 : 1e-12))
          << other[i] << " instead of " << g[0][i];
    }
    if (std::isnan(at)) {
      if (row.flat_at_nan) {
        EXPECT_EQ(g[0][i], 0);
      }
      continue;
    }
    EXPECT_EQ(std::isnan(g[0][i]), row.no_slope(at)) << g[0][i];
    EXPECT_FALSE(row.twice && std::isnan(second[i])) << "second derivative";
    if (std::isinf(at)) {
      EXPECT_TRUE(same(g[0][i], at < 0 ? row.below : row.above, 0)) << g[0][i];
    }
  }
}

TEST(Cases, EveryUnaryFunctionAtSpecialNumbers) {
  for (const Row& row : kRows) {
    check_row<float>(row, f32);
    check_row<double>(row, f64);
  }
}

// Of an exponent that is 0 the power is 1 and its slope 0, whatever the base.
TEST(Cases, PowersOfZeroExponentAreFlat) {
  for (DType t : {f32, f64}) {
    for (const Way way : kWays) {
      const Tensor a = testing::leaf_of({kNan, kInf, -kInf, 0.0, -2.0}, t);
      const Tensor e = zeros({5}, t);
      const Tensor y = pow(a, e);
      testing::expect_near(y, {1, 1, 1, 1, 1}, 0);
      testing::expect_near(gradients(sum(y), {a}, way)[0], {0, 0, 0, 0, 0}, 0, name(way));
    }
  }
}

// Powers at a base of 0, and of a negative base, in both types and every way.
TEST(Cases, PowersAtZeroInEveryWay) {
  for (DType t : {f32, f64}) {
    for (const Way way : kWays) {
      const Tensor a = testing::leaf_of({0.0, 2.0}, t), b = testing::leaf_of({1.0, 1.0}, t);
      const Tensors g = gradients(sum(pow(a, b)), {a, b}, way);
      testing::expect_near(g[0], {1, 1}, 1e-6, name(way));
      testing::expect_near(g[1], {0, 1.3862943611198906}, 1e-6, name(way));
      const Tensor z = testing::leaf_of({0.0, 0.0, 0.0}, t);
      const Tensor n = tensor({0.0, 1.0, 2.0}, t);
      testing::expect_near(gradients(sum(pow(z, n)), {z}, way)[0], {0, 1, 0}, 0, name(way));
      const Tensor m = testing::leaf_of({-2.0}, t), three = full({1}, 3, t).requires_grad_();
      const Tensors both = gradients(pow(m, three), {m, three}, way);
      testing::expect_near(both[0], {12}, 1e-5, name(way));
      EXPECT_TRUE(std::isnan(both[1].item())) << "a negative base has no such derivative";
    }
  }
}

// The angle of a point at infinity does not move; that of a point that is none is none.
TEST(Cases, AnglesOfPointsAtInfinity) {
  for (DType t : {f32, f64}) {
    for (const Way way : kWays) {
      const Tensor y = testing::leaf_of({kInf, 1.0, -kInf, kInf, 0.0, 3.0}, t);
      const Tensor x = testing::leaf_of({1.0, -kInf, 2.0, kInf, 0.0, 4.0}, t);
      const Tensors g = gradients(sum(atan2(y, x)), {y, x}, way);
      testing::expect_near(g[0], {0, 0, 0, 0, 0, .16}, 1e-7, name(way));
      testing::expect_near(g[1], {0, 0, 0, 0, 0, -.12}, 1e-7, name(way));
      const Tensor none = testing::leaf_of({kNan}, t);
      EXPECT_TRUE(std::isnan(gradients(atan2(none, ones({1}, t)), {none}, way)[0].item()));
    }
  }
}

}  // namespace
}  // namespace fovea
