// Elementwise functions of one tensor.
#include <cmath>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

constexpr double kPi = 3.14159265358979323846;

using F1 = Tensor (*)(const Tensor&);
using D1 = double (*)(double);

OpCase unary(const char* name, F1 f, D1 naive, double low, double high,
             std::vector<double> kinks = {}, const char* label = "") {
  OpCase row;
  row.name = name;
  row.label = label;
  row.f = [f](const Tensors& x) { return f(x[0]); };
  row.inputs = {floats({3, 1, 5}).range(low, high).away_from(std::move(kinks))};
  row.naive = [naive](const NaiveTensors& x) { return map(x[0], naive); };
  row.one = all_one(row.inputs);
  row.zero = {{0, 1, 5}};
  row.big = {{300, 1, 257}};
  return row;
}

// The same at values far out, where the naive loop is still exact.
OpCase far(const char* name, F1 f, D1 naive, double limit, std::vector<double> kinks = {}) {
  OpCase row = unary(name, f, naive, -limit, limit, std::move(kinks), "far");
  row.one = {};  // a gradient that is all but 0 needs larger ones to be measured by
  return row;
}

OpCase whole(const char* name, F1 f, D1 naive) {
  OpCase row = unary(name, f, naive, 0, 0, {}, "i64");
  row.inputs = {integers({3, 1, 5}, -9, 9)};
  row.result = i64;
  row.differentiable = false;
  return row;
}

double sign_of(double x) { return (x > 0) - (x < 0); }
double softplus_of(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
double gelu_of(double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double gelu_tanh_of(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x)));
}

}  // namespace

std::vector<OpCase> rows_unary() {
  std::vector<OpCase> rows{
      unary(
          "neg", neg, [](double x) { return -x; }, -2, 2),
      unary("abs", abs, [](double x) { return std::fabs(x); }, -2, 2, {0}),
      unary("sign", sign, sign_of, -2, 2, {0}),
      unary(
          "square", square, [](double x) { return x * x; }, -2, 2),
      unary(
          "reciprocal", reciprocal, [](double x) { return 1 / x; }, 0.3, 2),
      unary(
          "reciprocal", reciprocal, [](double x) { return 1 / x; }, -2, -0.3, {}, "negative"),
      unary(
          "sqrt", sqrt, [](double x) { return std::sqrt(x); }, 0.2, 3),
      unary(
          "rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.3, 3),
      unary(
          "exp", exp, [](double x) { return std::exp(x); }, -2, 2),
      unary(
          "exp2", exp2, [](double x) { return std::exp2(x); }, -2, 2),
      unary(
          "expm1", expm1, [](double x) { return std::expm1(x); }, -2, 2),
      unary(
          "log", log, [](double x) { return std::log(x); }, 0.2, 3),
      unary(
          "log2", log2, [](double x) { return std::log2(x); }, 0.2, 3),
      unary(
          "log10", log10, [](double x) { return std::log10(x); }, 0.2, 3),
      unary(
          "log1p", log1p, [](double x) { return std::log1p(x); }, -0.8, 2),
      unary(
          "sin", sin, [](double x) { return std::sin(x); }, -4, 4),
      unary(
          "cos", cos, [](double x) { return std::cos(x); }, -4, 4),
      unary(
          "erf", erf, [](double x) { return std::erf(x); }, -3, 3),
      unary("floor", floor, [](double x) { return std::floor(x); }, -2.5, 2.5, {-2, -1, 0, 1, 2}),
      unary("ceil", ceil, [](double x) { return std::ceil(x); }, -2.5, 2.5, {-2, -1, 0, 1, 2}),
      unary("round", round, [](double x) { return std::nearbyint(x); }, -2.4, 2.4,
            {-1.5, -0.5, 0.5, 1.5}),
      unary("trunc", trunc, [](double x) { return std::trunc(x); }, -2.5, 2.5, {-2, -1, 0, 1, 2}),
      unary("relu", relu, [](double x) { return std::fmax(x, 0); }, -2, 2, {0}),
      unary(
          "tanh", tanh, [](double x) { return std::tanh(x); }, -3, 3),
      unary("sigmoid", fovea::sigmoid, sigmoid_of, -4, 4),
      unary(
          "log_sigmoid", log_sigmoid, [](double x) { return -softplus_of(-x); }, -4, 4),
      unary("gelu", fovea::gelu, gelu_of, -3, 3),
      unary("gelu_tanh", gelu_tanh, gelu_tanh_of, -3, 3),
      unary(
          "silu", fovea::silu, [](double x) { return x * sigmoid_of(x); }, -4, 4),
      unary("softplus", softplus, softplus_of, -4, 4),
      unary(
          "clamp", [](const Tensor& x) { return clamp(x, -1, 0.5); },
          [](double x) { return std::fmin(std::fmax(x, -1), 0.5); }, -2, 2, {-1, 0.5}),

      far(
          "tanh", tanh, [](double x) { return std::tanh(x); }, 40),
      far("sigmoid", fovea::sigmoid, sigmoid_of, 60),
      far(
          "log_sigmoid", log_sigmoid, [](double x) { return -softplus_of(-x); }, 60),
      far("softplus", softplus, softplus_of, 60),
      far("gelu", fovea::gelu, gelu_of, 12),
      far("gelu_tanh", gelu_tanh, gelu_tanh_of, 12),
      far(
          "silu", fovea::silu, [](double x) { return x * sigmoid_of(x); }, 40),
      far(
          "erf", erf, [](double x) { return std::erf(x); }, 12),

      whole("neg", neg, [](double x) { return -x; }),
      whole("abs", abs, [](double x) { return std::fabs(x); }),
      whole("square", square, [](double x) { return x * x; }),
      whole(
          "clamp", [](const Tensor& x) { return clamp(x, -4, 5); },
          [](double x) { return std::fmin(std::fmax(x, -4), 5); }),
  };
  for (OpCase& row : rows) {
    // Sizes around the vector width, in one dimension and none.
    if (row.label.empty() && row.name == "gelu") {
      OpCase odd = row;
      odd.label = "odd_length";
      odd.inputs[0].shape = {37};
      odd.one = {{1}};
      odd.zero = {{0}};
      odd.big = {};
      OpCase point = row;
      point.label = "scalar";
      point.inputs[0].shape = {};
      point.one = point.zero = point.big = {};
      rows.push_back(std::move(odd));
      rows.push_back(std::move(point));
      break;
    }
  }
  return rows;
}

}  // namespace fovea::cases
