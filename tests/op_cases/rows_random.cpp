// Random tensors: what must hold for every draw. Distributions are measured in tests of their own.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

OpCase drawn(const char* name, const char* label, Function f, std::optional<DType> result,
             const Shape& shape, std::function<bool(double)> holds) {
  OpCase row;
  row.name = name;
  row.label = label;
  row.f = std::move(f);
  row.result = result;
  row.differentiable = false;
  row.property = [shape, holds = std::move(holds)](const NaiveTensors&, const NaiveTensor& y) {
    if (!(y.shape == shape)) return "shape " + y.shape.str();
    for (double v : y.data) {
      if (!holds(v)) return fmt::format("drew {}", v);
    }
    return std::string();
  };
  return row;
}

OpCase drawn_like(const char* name, Tensor (*f)(const Tensor&, Generator*)) {
  OpCase row = drawn(
      name, "", [f](const Tensors& x) { return f(x[0], nullptr); }, {}, {2, 30},
      [](double v) { return std::isfinite(v); });
  row.inputs = {floats({2, 30})};
  return row;
}

BadCase wrong(const char* message, std::vector<InputSpec> in, Function f) {
  return {std::move(in), ErrorKind::value, message, std::move(f)};
}

OpCase dropping(const char* label, double p, bool training, const Shape& shape) {
  OpCase row;
  row.name = "dropout";
  row.label = label;
  row.f = [p, training](const Tensors& x) { return dropout(x[0], p, training); };
  row.inputs = {floats(shape).range(1, 2)};
  row.property = [p, training](const NaiveTensors& x, const NaiveTensor& y) {
    const double scale = !training ? 1 : p == 1 ? 0 : 1 / (1 - p);
    size_t dropped = 0;
    for (size_t i = 0; i < y.data.size(); ++i) {
      const double kept = x[0].data[i] * scale;
      dropped += y.data[i] == 0;
      if (y.data[i] != 0 && !(std::fabs(y.data[i] - kept) <= 1e-6 * kept)) {
        return fmt::format("element {} is {}, neither 0 nor {}", i, y.data[i], kept);
      }
    }
    const bool all = dropped == y.data.size(), none = dropped == 0;
    const bool plain = !training || p == 0;
    return (plain ? none : p == 1 ? all : !all && !none) ? "" : fmt::format("{} dropped", dropped);
  };
  return row;
}

}  // namespace

std::vector<OpCase> rows_random() {
  const auto whole = [](double v) { return v == std::floor(v); };
  const auto unit = [](double v) { return v >= 0 && v < 1; };
  const auto finite = [](double v) { return std::isfinite(v); };
  std::vector<OpCase> rows{
      drawn(
          "rand", "",
          [](const Tensors&) {
            return rand({7, 100});
          },
          f32, {7, 100}, unit),
      drawn(
          "rand", "f64", [](const Tensors&) { return rand({70}, f64); }, f64, {70}, unit),
      drawn(
          "randn", "",
          [](const Tensors&) {
            return randn({7, 100});
          },
          f32, {7, 100}, finite),
      drawn(
          "randn", "f64", [](const Tensors&) { return randn({71}, f64); }, f64, {71}, finite),
      drawn(
          "randn", "large",
          [](const Tensors&) {
            return randn({300, 257});
          },
          f32, {300, 257}, finite),
      drawn(
          "uniform", "", [](const Tensors&) { return uniform({500}, -3, -1); }, f32, {500},
          [](double v) { return v >= -3 && v < -1; }),
      drawn(
          "normal", "", [](const Tensors&) { return normal(100, 0.5, {500}); }, f32, {500},
          [](double v) { return v > 95 && v < 105; }),
      drawn(
          "randint", "", [](const Tensors&) { return randint(-2, 3, {300}); }, i64, {300},
          [whole](double v) { return whole(v) && v >= -2 && v < 3; }),
      drawn_like("rand_like", rand_like),
      drawn_like("randn_like", randn_like),
  };
  for (OpCase& row : rows) {
    if (row.name == "uniform") {
      row.bad = {wrong("low is 1", {}, [](const Tensors&) { return uniform({2}, 1, 0); })};
    } else if (row.name == "randint") {
      row.bad = {wrong("high is 3", {}, [](const Tensors&) { return randint(3, 3, {2}); })};
    } else if (row.name == "normal") {
      row.bad = {wrong("std is -1", {}, [](const Tensors&) { return normal(0, -1, {2}); })};
    }
  }

  OpCase order = drawn(
      "randperm", "", [](const Tensors&) { return randperm(50); }, i64, {50},
      [](double v) { return v >= 0 && v < 50; });
  order.property = [](const NaiveTensors&, const NaiveTensor& y) {
    const std::set<double> seen(y.data.begin(), y.data.end());
    return seen.size() == 50 && *seen.begin() == 0 && *seen.rbegin() == 49 ? "" : "no permutation";
  };
  rows.push_back(std::move(order));

  OpCase coin;
  coin.name = "bernoulli";
  coin.f = [](const Tensors& x) { return bernoulli(x[0]); };
  coin.inputs = {floats({4}).holding({0, 1, 0.5, 0.25}).no_grad()};
  coin.differentiable = false;
  coin.property = [](const NaiveTensors&, const NaiveTensor& y) {
    const bool fixed = y.data[0] == 0 && y.data[1] == 1;
    return fixed && (y.data[2] == 0 || y.data[2] == 1) ? "" : "p = 0 or p = 1 not kept";
  };
  coin.bad = {wrong("bernoulli", {floats({1}).holding({1.5}).no_grad()}, {}),
              wrong("bernoulli", {floats({1}).holding({-0.1}).no_grad()}, {}),
              wrong("bernoulli", {floats({1}).holding({NAN}).no_grad()}, {})};
  rows.push_back(std::move(coin));

  OpCase pick;
  pick.name = "multinomial";
  pick.f = [](const Tensors& x) { return multinomial(x[0], 40, true); };
  pick.inputs = {floats({2, 4}).holding({1, 0, 3, 0, 2, 0, 0, 0}).no_grad()};
  pick.result = i64;
  pick.differentiable = false;
  pick.property = [](const NaiveTensors&, const NaiveTensor& y) {
    if (!(y.shape == Shape{2, 40})) return "shape " + y.shape.str();
    for (size_t i = 0; i < 80; ++i) {
      const bool possible = i < 40 ? y.data[i] == 0 || y.data[i] == 2 : y.data[i] == 0;
      if (!possible) return fmt::format("drew {} in row {}", y.data[i], i / 40);
    }
    return std::string();
  };
  const auto one = [](const Tensors& x) { return multinomial(x[0], 1); };
  pick.bad = {wrong("multinomial", {floats({2}).holding({0, 0}).no_grad()}, one),
              wrong("multinomial", {floats({2}).holding({-.1, 1.1}).no_grad()}, one),
              wrong("multinomial", {floats({2}).holding({NAN, 1}).no_grad()}, one),
              wrong("multinomial", {floats({2}).holding({INFINITY, 1}).no_grad()}, one),
              wrong("multinomial", {floats({3}).holding({1, 0, 0}).no_grad()},
                    [](const Tensors& x) { return multinomial(x[0], 2, false); })};
  OpCase distinct = pick;
  distinct.label = "without_replacement";
  distinct.f = [](const Tensors& x) { return multinomial(x[0], 3, false); };
  distinct.inputs = {floats({4}).holding({1, 5, 0, 2}).no_grad()};
  distinct.property = [](const NaiveTensors&, const NaiveTensor& y) {
    return std::set<double>(y.data.begin(), y.data.end()) == std::set<double>{0, 1, 3}
               ? ""
               : "not each of 0, 1, 3 once";
  };
  distinct.bad = {};
  rows.push_back(std::move(pick));
  rows.push_back(std::move(distinct));

  OpCase drop = dropping("", 0.4, true, {5, 6});
  drop.big = {{300, 257}};
  drop.bad = {wrong("dropout", {floats({2})}, [](const Tensors& x) { return dropout(x[0], 1.5); }),
              wrong("dropout", {floats({2})}, [](const Tensors& x) { return dropout(x[0], -.1); }),
              wrong("dropout", {floats({2})}, [](const Tensors& x) { return dropout(x[0], NAN); })};
  rows.push_back(std::move(drop));
  rows.push_back(dropping("eval", 0.4, false, {3, 4}));
  rows.push_back(dropping("none", 0, true, {3, 4}));
  rows.push_back(dropping("all", 1, true, {3, 4}));
  return rows;
}

}  // namespace fovea::cases
