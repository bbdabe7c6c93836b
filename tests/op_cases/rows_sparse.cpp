// Projections on the simplex, rectifiers with a parameter, atan2, remainder and lerp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

// y = max(scale v - t, 0)^power with t, found by bisection, such that sum y = 1.
Values1d projected(const Values1d& v, double scale, double power) {
  if (v.empty()) return {};
  const double top = scale * *std::max_element(v.begin(), v.end());
  double low = top - 1, high = top;
  const auto at = [&](double t) {
    Values1d y;
    for (double x : v) y.push_back(std::pow(std::fmax(scale * x - t, 0), power));
    return y;
  };
  for (int i = 0; i < 100; ++i) {
    const double t = (low + high) / 2;
    double sum = 0;
    for (double y : at(t)) sum += y;
    (sum > 1 ? low : high) = t;
  }
  return at((low + high) / 2);
}
Values1d sparsemax_of(const Values1d& v) { return projected(v, 1, 1); }
Values1d entmax15_of(const Values1d& v) { return projected(v, 0.5, 2); }

void add_projection(std::vector<OpCase>& rows, const char* name,
                    Tensor (*f)(const Tensor&, int64_t), Values1d (*naive)(const Values1d&),
                    std::vector<double> known) {
  const auto row = [&](const char* label, int64_t axis, const Shape& shape) {
    OpCase r;
    r.name = name;
    r.label = label;
    r.f = [f, axis](const Tensors& x) { return f(x[0], axis); };
    r.inputs = {floats(shape)};
    r.naive = [naive, axis](const NaiveTensors& x) { return along(x[0], axis, naive); };
    r.tolerance_f32 = 5e-6;
    r.one = all_one(r.inputs);
    return r;
  };
  OpCase last = row("", -1, {3, 5});
  last.zero = {{0, 5}};
  last.big = {{600, 130}};
  last.bad = {{{floats({3})}, kIndex, name, [f](const Tensors& x) { return f(x[0], 1); }}};
  OpCase first = row("first", 0, {4, 3});
  first.zero = {{4, 0}};
  OpCase middle = row("middle", 1, {2, 4, 3});
  middle.big = {{9, 130, 70}};
  OpCase spread = row("spread", -1, {3, 6});  // few winners
  spread.inputs[0].range(-6, 6);
  OpCase flat = row("flat", -1, {3, 6});  // all win
  flat.inputs[0].range(0, 0.1);
  OpCase one = row("one_class", 1, {3, 1});
  OpCase lone = row("scalar", -1, {});
  lone.naive = [](const NaiveTensors&) { return scalar(1); };
  OpCase right = row("known", -1, {3});
  right.inputs = {floats({3}).holding({-2, 0, 0.5})};
  right.one = {};
  right.naive = {};
  right.property = [known](const NaiveTensors&, const NaiveTensor& y) {
    for (size_t i = 0; i < known.size() && y.numel() == 3; ++i) {
      if (!(std::fabs(y.data[i] - known[i]) <= 5e-5)) {
        return fmt::format("element {} is {} instead of {}", i, y.data[i], known[i]);
      }
    }
    return std::string();
  };
  right.inputs[0].no_grad();
  OpCase shut = row("impossible_class", -1, {2, 3});
  shut.inputs = {floats({2, 3}).holding({0.5, -INFINITY, 0, -INFINITY, -1, -INFINITY}).no_grad()};
  shut.naive = [naive](const NaiveTensors& x) {
    return along(map(x[0], [](double v) { return std::fmax(v, -1e6); }), -1, naive);
  };
  for (OpCase* r : {&last, &first, &middle, &spread, &flat, &one, &lone, &shut}) {
    rows.push_back(std::move(*r));
  }
  rows.push_back(std::move(right));
}

void add_gumbel(std::vector<OpCase>& rows) {
  for (bool hard : {false, true}) {
    for (int64_t axis : {-1, 0}) {
      OpCase row;
      row.name = "gumbel_softmax";
      row.label = fmt::format("{}{}", hard ? "hard" : "soft", axis == 0 ? "_first" : "");
      row.f = [=](const Tensors& x) { return gumbel_softmax(x[0], 0.7, hard, axis); };
      row.inputs = {floats({4, 5})};
      if (hard) row.inputs[0].no_grad();  // the gradient is that of the soft one, on purpose
      row.property = [=](const NaiveTensors&, const NaiveTensor& y) {
        std::string complaint;
        fold(y, {axis}, false, [&](const Values1d& v) {
          double sum = 0;
          int64_t ones = 0, zeros = 0;
          for (double p : v) sum += p, ones += p == 1, zeros += p == 0;
          const auto n = static_cast<int64_t>(v.size());
          if (!(std::fabs(sum - 1) <= 1e-5)) complaint = fmt::format("sum {}", sum);
          if (hard && (ones != 1 || zeros != n - 1)) complaint = fmt::format("{} ones", ones);
          return sum;
        });
        return complaint;
      };
      row.one = {{1, 1}};
      row.zero = {axis == 0 ? Shape{5, 0} : Shape{0, 5}};
      row.big = {{300, 130}};
      if (!hard && axis == -1) {
        row.bad = {{{floats({3})},
                    kValue,
                    "gumbel_softmax: tau is 0",
                    [](const Tensors& x) { return gumbel_softmax(x[0], 0); }},
                   {{floats({3})},
                    kIndex,
                    "softmax",
                    [](const Tensors& x) { return gumbel_softmax(x[0], 1, false, 1); }},
                   {{integers({3}, 0, 3)}, kDType, "gumbel_softmax: x"}};
      }
      rows.push_back(std::move(row));
    }
  }
}

using Naive1 = std::function<double(double)>;

OpCase unary(const char* name, const char* label, std::function<Tensor(const Tensor&)> f,
             Naive1 naive, double limit, std::vector<double> kinks) {
  OpCase row;
  row.name = name;
  row.label = label;
  row.f = [f = std::move(f)](const Tensors& x) { return f(x[0]); };
  row.inputs = {floats({3, 1, 5}).range(-limit, limit).away_from(std::move(kinks))};
  row.naive = [naive = std::move(naive)](const NaiveTensors& x) { return map(x[0], naive); };
  row.one = {{1, 1, 1}};
  row.zero = {{0, 1, 5}};
  row.big = {{300, 1, 257}};
  return row;
}

void add_rectifiers(std::vector<OpCase>& rows) {
  const Naive1 mish_of = [](double x) {
    return x * std::tanh(std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))));
  };
  const auto elu_of = [](double alpha) {
    return [alpha](double x) { return x > 0 ? x : alpha * std::expm1(x); };
  };
  const auto elu1 = [](const Tensor& x) { return elu(x); };
  rows.push_back(unary("mish", "", mish, mish_of, 4, {}));
  rows.push_back(unary("mish", "far", mish, mish_of, 300, {}));
  rows.push_back(unary("elu", "", elu1, elu_of(1), 3, {0}));
  rows.push_back(unary("elu", "far", elu1, elu_of(1), 900, {0}));
  rows.push_back(
      unary("elu", "alpha", [](const Tensor& x) { return elu(x, 0.5); }, elu_of(0.5), 3, {0}));
  rows.push_back(unary("elu", "alpha_far", [](const Tensor& x) { return elu(x, 0.5); }, elu_of(0.5),
                       900, {0}));
  rows.push_back(unary(
      "leaky_relu", "", [](const Tensor& x) { return leaky_relu(x); },
      [](double x) { return x > 0 ? x : 0.01 * x; }, 3, {0}));
  rows.back().bad = {{{integers({3}, 0, 3)}, kDType, "leaky_relu: x"}};
  rows.push_back(unary(
      "leaky_relu", "steep", [](const Tensor& x) { return leaky_relu(x, 2); },
      [](double x) { return x > 0 ? x : 2 * x; }, 3, {0}));
  rows.push_back(unary(
      "hardtanh", "", [](const Tensor& x) { return hardtanh(x); },
      [](double x) { return std::fmin(1, std::fmax(-1, x)); }, 3, {-1, 1}));
  rows.back().bad = {{{floats({3})},
                      kValue,
                      "hardtanh: low is 2",
                      [](const Tensors& x) { return hardtanh(x[0], 2, 1); }},
                     {{integers({3}, 0, 3)}, kDType, "hardtanh: x"}};
  rows.push_back(unary(
      "hardtanh", "six", [](const Tensor& x) { return hardtanh(x, 0, 6); },
      [](double x) { return std::fmin(6, std::fmax(0, x)); }, 9, {0, 6}));
}

void add_binary(std::vector<OpCase>& rows) {
  const auto binary = [](const char* name, const char* label,
                         Tensor (*f)(const Tensor&, const Tensor&), double (*naive)(double, double),
                         InputSpec a, InputSpec b) {
    OpCase row;
    row.name = name;
    row.label = label;
    row.f = [f](const Tensors& x) { return f(x[0], x[1]); };
    row.inputs = {std::move(a), std::move(b)};
    row.naive = [naive](const NaiveTensors& x) { return zip(x[0], x[1], naive); };
    row.one = all_one(row.inputs);
    row.bad = {{{floats({3}), floats({4})}, kShape, name}};
    return row;
  };
  const auto angle = [](double y, double x) { return std::atan2(y, x); };
  const InputSpec off = floats({3, 4}).away_from({0});
  OpCase a = binary("atan2", "", atan2, angle, off, off);
  a.zero = {{0, 4}, {0, 4}};
  a.big = {{300, 257}, {300, 257}};
  OpCase wide = binary("atan2", "broadcast", atan2, angle, floats({3, 1}).away_from({0}),
                       floats({4}).away_from({0}));
  wide.zero = {{0, 1}, {4}};
  OpCase whole =
      binary("atan2", "i64", atan2, angle, integers({3, 4}, -3, 4), integers({3, 4}, -3, 4));
  whole.result = f32;
  whole.differentiable = false;
  whole.bad = {};

  const auto rest = [](double x, double y) {
    const double r = std::fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
  };
  // a / b stays away from whole numbers, where the remainder jumps.
  OpCase r = binary("remainder", "", remainder, rest,
                    floats({6}).holding({1.3, -1.3, 1.3, -1.3, 0.4, 7.1}),
                    floats({6}).holding({0.5, 0.5, -0.5, -0.5, 2, -1.6}));
  r.zero = {{0}, {0}};
  OpCase spread = r;
  spread.label = "broadcast";
  spread.one = spread.zero = {};
  spread.inputs = {floats({3, 1}).holding({1.3, -2.7, 0.2}), floats({2}).holding({0.5, -0.7})};
  spread.bad = {};
  OpCase i =
      binary("remainder", "i64", remainder, rest, integers({4, 5}, -9, 9), integers({4, 5}, 1, 5));
  i.result = i64;
  i.differentiable = false;
  i.zero = {{0, 5}, {0, 5}};
  i.big = {{300, 257}, {300, 257}};
  i.bad = {};

  OpCase mix;
  mix.name = "lerp";
  mix.f = [](const Tensors& x) { return lerp(x[0], x[1], x[2]); };
  mix.inputs = {floats({3, 4}), floats({4}), floats({3, 1})};
  mix.naive = [](const NaiveTensors& x) {
    return build(
        broadcast_shapes("", broadcast_shapes("", x[0].shape, x[1].shape), x[2].shape),
        [&](const Shape& at) { return x[0].at(at) + x[2].at(at) * (x[1].at(at) - x[0].at(at)); });
  };
  mix.one = {{1, 1}, {1}, {1, 1}};
  mix.zero = {{0, 4}, {4}, {0, 1}};
  mix.big = {{300, 257}, {257}, {300, 1}};
  mix.bad = {{{floats({3}), floats({4}), floats({3})}, kShape, ""}};
  OpCase number = mix;
  number.label = "number";
  number.f = [](const Tensors& x) { return lerp(x[0], x[1], 0.3); };
  number.inputs = {floats({3, 4}), floats({3, 4})};
  number.naive = [](const NaiveTensors& x) {
    return zip(x[0], x[1], [](double p, double q) { return p + 0.3 * (q - p); });
  };
  number.one = {{1, 1}, {1, 1}};
  number.zero = {{0, 4}, {0, 4}};
  number.big = {{300, 257}, {300, 257}};
  number.bad = {};
  for (OpCase* row : {&a, &wide, &whole, &r, &spread, &i, &mix, &number}) {
    rows.push_back(std::move(*row));
  }
}

}  // namespace

std::vector<OpCase> rows_sparse() {
  std::vector<OpCase> rows;
  add_projection(rows, "sparsemax", sparsemax, sparsemax_of, {0, 0.25, 0.75});
  add_projection(rows, "entmax15", entmax15, entmax15_of, {0, 0.3260, 0.6740});
  add_gumbel(rows);
  add_rectifiers(rows);
  add_binary(rows);
  return rows;
}

}  // namespace fovea::cases
