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
  OpCase row;
  row.name = name;
  row.f = [f](const Tensors& x) { return f(x[0], nullptr); };
  row.inputs = {floats({2, 30})};
  row.differentiable = false;
  row.property = [](const NaiveTensors& x, const NaiveTensor& y) {
    if (!(y.shape == x[0].shape)) return "shape " + y.shape.str();
    const std::set<double> seen(y.data.begin(), y.data.end());
    for (double v : seen) {
      if (!std::isfinite(v)) return fmt::format("drew {}", v);
    }
    return 2 * seen.size() < y.data.size() ? "drew the same again and again" : std::string();
  };
  row.one = {{1, 1}};
  row.zero = {{0, 30}};
  row.big = {{300, 257}};
  return row;
}

BadCase wrong(const char* message, std::vector<InputSpec> in, Function f) {
  return {std::move(in), ErrorKind::value, message, std::move(f)};
}

// n draws a row, all of categories with a positive weight.
std::string possible(const NaiveTensor& weights, const NaiveTensor& y, int64_t n) {
  Shape shape = weights.shape;
  const int64_t k = shape.back();
  shape[shape.rank() - 1] = n;
  if (!(y.shape == shape)) return "shape " + y.shape.str();
  for (int64_t i = 0; i < y.numel(); ++i) {
    const double v = y.data[static_cast<size_t>(i)];
    if (!(v >= 0 && v < static_cast<double>(k))) return fmt::format("drew {} of {}", v, k);
    const int64_t at = i / n * k + static_cast<int64_t>(v);
    if (!(weights.data[static_cast<size_t>(at)] > 0)) {
      return fmt::format("drew {} in row {}", v, i / n);
    }
  }
  return "";
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
    const bool plain = !training || p == 0, few = y.data.size() < 10;
    return (plain    ? none
            : p == 1 ? all
                     : few || (!all && !none))
               ? ""
               : fmt::format("{} dropped", dropped);
  };
  row.one = all_one(row.inputs);
  row.zero = {{0, 3}};
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
  coin.inputs[0].range(0, 1);
  coin.property = [](const NaiveTensors& x, const NaiveTensor& y) {
    double surplus = 0;  // over what is expected
    for (size_t i = 0; i < y.data.size(); ++i) {
      const double p = x[0].data[i], v = y.data[i];
      surplus += v - p;
      if (!(v == 0 ? p < 1 : v == 1 && p > 0)) return fmt::format("drew {} where p is {}", v, p);
    }
    const bool likely = std::fabs(surplus) <= 3 * std::sqrt(static_cast<double>(y.numel()));
    return likely ? std::string() : fmt::format("{} ones too many", surplus);
  };
  coin.one = {{1}};
  coin.zero = {{0, 3}};
  coin.big = {{300, 257}};
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
  pick.inputs[0].range(0, 1);
  pick.property = [](const NaiveTensors& x, const NaiveTensor& y) { return possible(x[0], y, 40); };
  pick.one = {{1, 1}};
  pick.zero = {{0, 4}};
  pick.big = {{1500, 30}};
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
  distinct.property = [](const NaiveTensors& x, const NaiveTensor& y) {
    std::string complaint = possible(x[0], y, 3);
    for (size_t i = 0; i < y.data.size(); i += 3) {
      const std::set<double> row(y.data.begin() + i, y.data.begin() + i + 3);
      if (row.size() < 3) complaint = fmt::format("drew one again in row {}", i / 3);
    }
    return complaint;
  };
  distinct.inputs[0].range(0.1, 1);
  distinct.one = {{1, 3}};
  distinct.zero = {{0, 4}};
  distinct.big = {{1500, 30}};
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
