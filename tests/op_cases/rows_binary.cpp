// Elementwise functions of two tensors, with broadcasting, and of a tensor and a number.
#include <cmath>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

using F2 = Tensor (*)(const Tensor&, const Tensor&);
using FS = Tensor (*)(const Tensor&, Scalar);
using D2 = double (*)(double, double);

OpCase binary(const char* name, const char* label, F2 f, D2 naive, InputSpec a, InputSpec b) {
  OpCase row;
  row.name = name;
  row.label = label;
  row.f = [f](const Tensors& x) { return f(x[0], x[1]); };
  row.inputs = {std::move(a), std::move(b)};
  row.naive = [naive](const NaiveTensors& x) { return zip(x[0], x[1], naive); };
  row.one = all_one(row.inputs);
  return row;
}

// One operation on equal shapes, on broadcast shapes of every kind, and with a number.
void add_rows(std::vector<OpCase>& rows, const char* name, F2 f, FS with_number, D2 naive,
              InputSpec a, InputSpec b, std::vector<double> kinks_of_number = {}) {
  const auto shaped = [](InputSpec s, const Shape& shape) {
    s.shape = shape;
    return s;
  };
  OpCase same = binary(name, "", f, naive, shaped(a, {3, 5}), shaped(b, {3, 5}));
  same.zero = {{0, 5}, {0, 5}};
  same.big = {{300, 257}, {300, 257}};
  same.bad = {{{shaped(a, {2, 3}), shaped(b, {4})}, ErrorKind::shape, "[2, 3]"},
              {{shaped(a, {2, 3}), shaped(b, {3, 2})}, ErrorKind::shape, "[3, 2]"}};
  rows.push_back(std::move(same));

  OpCase trailing = binary(name, "row", f, naive, shaped(a, {4, 3}), shaped(b, {3}));
  trailing.one = {{4, 1}, {1}};
  trailing.zero = {{0, 3}, {3}};
  trailing.big = {{1000, 129}, {129}};
  rows.push_back(std::move(trailing));

  OpCase both = binary(name, "outer", f, naive, shaped(a, {2, 1, 3}), shaped(b, {4, 1}));
  both.one = {{1, 1, 3}, {1, 1}};
  both.zero = {{0, 1, 3}, {4, 1}};
  both.big = {{70, 1, 65}, {33, 1}};
  rows.push_back(std::move(both));

  OpCase point = binary(name, "scalar", f, naive, shaped(a, {}), shaped(b, {2, 3}));
  point.zero = {{}, {0, 3}};
  rows.push_back(std::move(point));

  if (!with_number) return;
  OpCase number = binary(name, "number", nullptr, nullptr, shaped(a, {3, 5}), shaped(b, {}));
  number.inputs.pop_back();
  number.one = {{1, 1}};
  for (double k : kinks_of_number) number.inputs[0].kinks.push_back(k);
  number.f = [with_number](const Tensors& x) { return with_number(x[0], 1.5); };
  number.naive = [naive](const NaiveTensors& x) { return zip(x[0], scalar(1.5), naive); };
  number.zero = {{0, 5}};
  number.big = {{300, 257}};
  rows.push_back(std::move(number));
}

OpCase operator_row(const char* name, const char* label, Function f,
                    std::function<NaiveTensor(const NaiveTensors&)> naive, InputSpec x) {
  OpCase row;
  row.name = name;
  row.label = label;
  row.f = std::move(f);
  row.naive = std::move(naive);
  row.inputs = {std::move(x)};
  row.one = all_one(row.inputs);
  return row;
}

OpCase mixed(const char* name, const char* label, F2 f, D2 naive, InputSpec a, InputSpec b,
             std::optional<DType> result) {
  OpCase row = binary(name, label, f, naive, std::move(a), std::move(b));
  row.result = result;
  row.differentiable = !result.has_value();
  return row;
}

}  // namespace

std::vector<OpCase> rows_binary() {
  std::vector<OpCase> rows;
  const InputSpec any = floats({});
  const InputSpec far_from_zero = floats({}).range(0.4, 2.5);
  add_rows(
      rows, "add", add, add, [](double a, double b) { return a + b; }, any, any);
  add_rows(
      rows, "sub", sub, sub, [](double a, double b) { return a - b; }, any, any);
  add_rows(
      rows, "mul", mul, mul, [](double a, double b) { return a * b; }, any, any);
  add_rows(
      rows, "div", div, div, [](double a, double b) { return a / b; }, any, far_from_zero);
  add_rows(
      rows, "pow", pow, pow, [](double a, double b) { return std::pow(a, b); }, far_from_zero, any);
  // Kinks where a = b and where a / b is whole: the operands keep to ranges that never meet them.
  add_rows(
      rows, "maximum", maximum, nullptr, [](double a, double b) { return std::fmax(a, b); },
      floats({}).range(-2, 2).away_from({-1, 0, 1}), floats({}).range(-0.009, 0.009));
  add_rows(
      rows, "minimum", minimum, nullptr, [](double a, double b) { return std::fmin(a, b); },
      floats({}).range(-2, 2).away_from({-1, 0, 1}), floats({}).range(-0.009, 0.009));
  add_rows(
      rows, "floor_divide", floor_divide, floor_divide,
      [](double a, double b) { return std::floor(a / b); }, floats({}).range(1.1, 1.4),
      floats({}).range(-1.05, -0.75));

  const auto number = [&](const char* name, const char* label, Function f, D2 naive, double c,
                          InputSpec x) {
    rows.push_back(operator_row(
        name, label, std::move(f),
        [naive, c](const NaiveTensors& t) { return zip(t[0], scalar(c), naive); }, std::move(x)));
  };
  const InputSpec x = floats({2, 3}), positive = floats({2, 3}).range(0.4, 2.5);
  number(
      "pow", "cube", [](const Tensors& t) { return pow(t[0], 3); },
      [](double a, double b) { return std::pow(a, b); }, 3, x);
  number(
      "pow", "square", [](const Tensors& t) { return pow(t[0], 2); },
      [](double a, double b) { return std::pow(a, b); }, 2, x);
  number(
      "pow", "zero", [](const Tensors& t) { return pow(t[0], 0); },
      [](double a, double b) { return std::pow(a, b); }, 0, x);
  number(
      "pow", "one", [](const Tensors& t) { return pow(t[0], 1); },
      [](double a, double b) { return std::pow(a, b); }, 1, x);
  number(
      "pow", "half", [](const Tensors& t) { return pow(t[0], 0.5); },
      [](double a, double b) { return std::pow(a, b); }, 0.5, positive);
  number(
      "pow", "inverse", [](const Tensors& t) { return pow(t[0], -1); },
      [](double a, double b) { return std::pow(a, b); }, -1, positive);
  number(
      "add", "operator_number_left", [](const Tensors& t) { return 2 + t[0]; },
      [](double a, double b) { return b + a; }, 2, x);
  number(
      "sub", "operator_number_left", [](const Tensors& t) { return 2 - t[0]; },
      [](double a, double b) { return b - a; }, 2, x);
  number(
      "mul", "operator_number_left", [](const Tensors& t) { return 2.5 * t[0]; },
      [](double a, double b) { return b * a; }, 2.5, x);
  number(
      "div", "operator_number_left", [](const Tensors& t) { return 2 / t[0]; },
      [](double a, double b) { return b / a; }, 2, positive);
  rows.push_back(operator_row(
      "mul", "operators", [](const Tensors& t) { return (t[0] + 1) * (t[0] - 2) / 3 - -t[0]; },
      [](const NaiveTensors& t) {
        return map(t[0], [](double a) { return (a + 1) * (a - 2) / 3 + a; });
      },
      x));
  rows.push_back(operator_row(
      "mul", "itself", [](const Tensors& t) { return t[0] * t[0]; },
      [](const NaiveTensors& t) { return map(t[0], [](double a) { return a * a; }); }, x));

  const InputSpec whole = integers({3, 4}, -7, 8), divisor = integers({4}, 1, 5);
  rows.push_back(mixed(
      "add", "i64", add, [](double a, double b) { return a + b; }, whole, divisor, i64));
  rows.push_back(mixed(
      "sub", "i64", sub, [](double a, double b) { return a - b; }, whole, divisor, i64));
  rows.push_back(mixed(
      "mul", "i64", mul, [](double a, double b) { return a * b; }, whole, divisor, i64));
  rows.push_back(mixed(
      "div", "i64", div, [](double a, double b) { return double(float(a / b)); }, whole, divisor,
      f32));
  rows.push_back(mixed(
      "floor_divide", "i64", floor_divide, [](double a, double b) { return std::floor(a / b); },
      whole, divisor, i64));
  rows.push_back(mixed(
      "maximum", "i64", maximum, [](double a, double b) { return std::fmax(a, b); }, whole, divisor,
      i64));
  rows.push_back(mixed(
      "minimum", "i64", minimum, [](double a, double b) { return std::fmin(a, b); }, whole, divisor,
      i64));
  rows.push_back(mixed(
      "pow", "i64", pow, [](double a, double b) { return std::pow(a, b); }, whole, divisor, i64));
  // A whole or boolean operand takes the type of the float, which alone gets a gradient.
  rows.push_back(mixed("mul", "float_by_i64", mul, [](double a, double b) { return a * b; },
                       floats({3, 4}), divisor, {}));
  rows.push_back(mixed("add", "i64_and_float", add, [](double a, double b) { return a + b; }, whole,
                       floats({4}), {}));
  rows.push_back(mixed("mul", "float_by_bool", mul, [](double a, double b) { return a * b; },
                       floats({3, 4}), bools({3, 1}), {}));
  rows.push_back(mixed("div", "float_by_i64", div, [](double a, double b) { return a / b; },
                       floats({3, 4}), divisor, {}));
  return rows;
}

}  // namespace fovea::cases
