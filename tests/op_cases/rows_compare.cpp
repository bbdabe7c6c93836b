// Comparisons, tests of single elements, and choices by a condition.
#include <cmath>
#include <limits>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using F2 = Tensor (*)(const Tensor&, const Tensor&);
using D2 = double (*)(double, double);

OpCase bool_row(const char* name, const char* label, Function f, std::vector<InputSpec> inputs,
                std::function<NaiveTensor(const NaiveTensors&)> naive) {
  OpCase row;
  row.name = name;
  row.label = label;
  row.f = std::move(f);
  row.inputs = std::move(inputs);
  row.naive = std::move(naive);
  row.result = boolean;
  row.differentiable = false;
  row.one = all_one(row.inputs);
  return row;
}

// The function, the operator, and the function of a number, which are three ways in.
void add_comparison(std::vector<OpCase>& rows, const char* name, F2 f, F2 as_operator,
                    Tensor (*with_number)(const Tensor&, Scalar), D2 naive) {
  const auto both = [naive](const NaiveTensors& x) { return zip(x[0], x[1], naive); };
  OpCase row = bool_row(
      name, "", [f](const Tensors& x) { return f(x[0], x[1]); },
      {integers({4, 3}, 0, 3), integers({3}, 0, 3)}, both);
  row.zero = {{0, 3}, {3}};
  row.big = {{1000, 129}, {129}};
  row.bad = {{{floats({2}), floats({3})}, ErrorKind::shape, "[3]"}};
  rows.push_back(std::move(row));
  rows.push_back(bool_row(
      name, "operator", [as_operator](const Tensors& x) { return as_operator(x[0], x[1]); },
      {floats({5}).holding({0, 1, kInf, kNan, -kInf}).no_grad(),
       floats({2, 5}).holding({0, 0, kInf, kNan, 1, 1, kNan, -kInf, 0, -kInf}).no_grad()},
      both));
  rows.push_back(bool_row(
      name, "number", [with_number](const Tensors& x) { return with_number(x[0], 1.5); },
      {floats({5}).holding({0, 1.5, 2, kNan, -kInf}).no_grad()},
      [naive](const NaiveTensors& x) { return zip(x[0], scalar(1.5), naive); }));
}

void add_test(std::vector<OpCase>& rows, const char* name, Tensor (*f)(const Tensor&),
              double (*naive)(double)) {
  OpCase row = bool_row(
      name, "", [f](const Tensors& x) { return f(x[0]); },
      {floats({2, 3}).holding({0, kNan, kInf, -kInf, 1e30, -2}).no_grad()},
      [naive](const NaiveTensors& x) { return map(x[0], naive); });
  row.zero = {{0, 3}};
  row.big = {{300, 257}};
  rows.push_back(std::move(row));
}

Tensor flag(bool b) { return full({}, b, boolean); }

}  // namespace

std::vector<OpCase> rows_compare() {
  std::vector<OpCase> rows;
  using T = Tensor;
  add_comparison(
      rows, "eq", eq, [](const T& a, const T& b) { return a == b; }, eq,
      [](double a, double b) { return double(a == b); });
  add_comparison(
      rows, "ne", ne, [](const T& a, const T& b) { return a != b; }, ne,
      [](double a, double b) { return double(a != b); });
  add_comparison(
      rows, "lt", lt, [](const T& a, const T& b) { return a < b; }, lt,
      [](double a, double b) { return double(a < b); });
  add_comparison(
      rows, "le", le, [](const T& a, const T& b) { return a <= b; }, le,
      [](double a, double b) { return double(a <= b); });
  add_comparison(
      rows, "gt", gt, [](const T& a, const T& b) { return a > b; }, gt,
      [](double a, double b) { return double(a > b); });
  add_comparison(
      rows, "ge", ge, [](const T& a, const T& b) { return a >= b; }, ge,
      [](double a, double b) { return double(a >= b); });
  add_test(rows, "isnan", isnan, [](double x) { return double(std::isnan(x)); });
  add_test(rows, "isinf", isinf, [](double x) { return double(std::isinf(x)); });
  add_test(rows, "isfinite", isfinite, [](double x) { return double(std::isfinite(x)); });

  OpCase negation = bool_row(
      "logical_not", "", [](const Tensors& x) { return logical_not(x[0]); }, {bools({3, 4})},
      [](const NaiveTensors& x) { return map(x[0], [](double a) { return double(a == 0); }); });
  negation.zero = {{0, 4}};
  negation.big = {{300, 257}};
  rows.push_back(std::move(negation));
  OpCase conjunction = bool_row(
      "logical_and", "", [](const Tensors& x) { return logical_and(x[0], x[1]); },
      {bools({3, 4}), bools({4})},
      [](const NaiveTensors& x) {
        return zip(x[0], x[1], [](double a, double b) { return a * b; });
      });
  conjunction.zero = {{0, 4}, {4}};
  conjunction.big = {{300, 257}, {257}};
  rows.push_back(std::move(conjunction));
  OpCase disjunction = bool_row(
      "logical_or", "", [](const Tensors& x) { return logical_or(x[0], x[1]); },
      {bools({3, 1}), bools({4})},
      [](const NaiveTensors& x) {
        return zip(x[0], x[1], [](double a, double b) { return double(a + b > 0); });
      });
  disjunction.zero = {{3, 1}, {0}};
  disjunction.big = {{300, 1}, {257}};
  rows.push_back(std::move(disjunction));

  // Rows with other shapes too hold numbers there of which every one must be looked at.
  const auto whole_answer = [&](const char* name, const char* label, Function f,
                                std::vector<InputSpec> in, bool answer) {
    rows.push_back(bool_row(name, label, std::move(f), std::move(in),
                            [answer](const NaiveTensors&) { return scalar(answer); }));
    rows.back().one = {};
  };
  const auto close = [](const Tensors& x) { return flag(allclose(x[0], x[1])); };
  const InputSpec one = floats({2}).holding({1, -2}).no_grad();
  whole_answer("allclose", "", close, {one, floats({2}).holding({1 + 5e-6, -2}).no_grad()}, true);
  for (InputSpec& s : rows.back().inputs) s.range(0, 1e-9);  // closer than atol
  rows.back().one = {{1, 1}, {1}};
  rows.back().zero = {{0, 3}, {0, 3}};
  rows.back().big = {{300, 257}, {300, 257}};
  whole_answer("allclose", "far", close, {one, floats({2}).holding({1 + 5e-5, -2}).no_grad()},
               false);
  whole_answer("allclose", "nan", close,
               {floats({2}).holding({1, kNan}).no_grad(), floats({2}).holding({1, kNan}).no_grad()},
               false);
  whole_answer("allclose", "inf", close,
               {floats({2}).holding({1, kInf}).no_grad(), floats({2}).holding({1, kInf}).no_grad()},
               true);
  const auto same = [](const Tensors& x) { return flag(equal(x[0], x[1])); };
  whole_answer("equal", "", same, {one, one}, true);
  for (InputSpec& s : rows.back().inputs) s.range(1.5, 1.5);
  rows.back().one = {{1, 1}, {1, 1}};
  rows.back().zero = {{0, 3}, {0, 3}};
  rows.back().big = {{300, 257}, {300, 257}};
  whole_answer("equal", "value", same, {one, floats({2}).holding({1, 2}).no_grad()}, false);
  whole_answer("equal", "shape", same, {one, floats({1, 2}).holding({1, -2}).no_grad()}, false);
  whole_answer("equal", "dtype", same, {one, integers({2}, 0, 1).holding({1, -2})}, false);

  OpCase choice;
  choice.name = "where";
  choice.f = [](const Tensors& x) { return where(x[0], x[1], x[2]); };
  choice.inputs = {bools({3, 4}), floats({3, 4}), floats({3, 4})};
  choice.naive = [](const NaiveTensors& x) {
    return build(
        broadcast_shapes("where", x[0].shape, broadcast_shapes("where", x[1].shape, x[2].shape)),
        [&](const Shape& i) { return x[0].at(i) != 0 ? x[1].at(i) : x[2].at(i); });
  };
  choice.one = {{1, 1}, {1, 1}, {1, 1}};
  choice.zero = {{0, 4}, {0, 4}, {0, 4}};
  choice.big = {{300, 257}, {300, 257}, {300, 257}};
  choice.bad = {{{floats({3}).no_grad(), floats({3}), floats({3})}, ErrorKind::dtype, "where"},
                {{bools({3}), floats({4}), floats({4})}, ErrorKind::shape, "where"}};
  OpCase broadcast_choice = choice;
  broadcast_choice.label = "broadcast";
  broadcast_choice.inputs = {bools({2, 1, 3}), floats({4, 1}), floats({})};
  broadcast_choice.one = {{1, 1, 3}, {1, 1}, {}};
  broadcast_choice.zero = {{0, 1, 3}, {4, 1}, {}};
  broadcast_choice.big = {};
  broadcast_choice.bad = {};
  rows.push_back(std::move(choice));
  rows.push_back(std::move(broadcast_choice));

  OpCase fill;
  fill.name = "masked_fill";
  fill.f = [](const Tensors& x) { return masked_fill(x[0], x[1], -7.5); };
  fill.inputs = {floats({2, 3, 4}), bools({3, 1})};
  fill.naive = [](const NaiveTensors& x) {
    return zip(x[0], x[1], [](double a, double m) { return m != 0 ? -7.5 : a; });
  };
  fill.one = {{1, 1, 1}, {1, 1}};
  fill.zero = {{0, 3, 4}, {3, 1}};
  fill.big = {{64, 30, 40}, {30, 1}};
  fill.bad = {{{floats({2}), floats({2}).no_grad()}, ErrorKind::dtype, "masked_fill"},
              {{floats({2}), bools({3})}, ErrorKind::shape, "masked_fill"}};
  rows.push_back(std::move(fill));
  return rows;
}

}  // namespace fovea::cases
