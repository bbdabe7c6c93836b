// Normalisation: to a distribution, and to mean 0 and variance 1.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

Values1d softmax_of(const Values1d& v) {
  const double m = v.empty() ? 0 : *std::max_element(v.begin(), v.end());
  Values1d y(v.size());
  double sum = 0;
  for (size_t i = 0; i < v.size(); ++i) sum += y[i] = std::exp(v[i] - m);
  for (double& p : y) p /= sum;
  return y;
}

Values1d log_softmax_of(const Values1d& v) {
  const double m = v.empty() ? 0 : *std::max_element(v.begin(), v.end());
  double sum = 0;
  for (double x : v) sum += std::exp(x - m);
  Values1d y;
  for (double x : v) y.push_back(x - m - std::log(sum));
  return y;
}

Values1d standard(const Values1d& v, double eps) {
  double mean = 0, var = 0;
  for (double x : v) mean += x / static_cast<double>(v.size());
  for (double x : v) var += (x - mean) * (x - mean) / static_cast<double>(v.size());
  Values1d y;
  for (double x : v) y.push_back((x - mean) / std::sqrt(var + eps));
  return y;
}

void add_softmax(std::vector<OpCase>& rows, const char* name, Tensor (*f)(const Tensor&, int64_t),
                 Values1d (*naive)(const Values1d&)) {
  const auto row = [&](const char* label, int64_t axis, const Shape& shape) {
    OpCase r;
    r.name = name;
    r.label = label;
    r.f = [f, axis](const Tensors& x) { return f(x[0], axis); };
    r.inputs = {floats(shape).range(-3, 3)};
    r.naive = [naive, axis](const NaiveTensors& x) { return along(x[0], axis, naive); };
    r.one = all_one(r.inputs);
    return r;
  };
  OpCase last = row("", -1, {3, 5});
  last.zero = {{0, 5}};
  last.big = {{600, 130}};
  last.bad = {
      {{floats({3})}, ErrorKind::index, name, [f](const Tensors& x) { return f(x[0], 1); }}};
  OpCase first = row("first", 0, {4, 3});
  first.zero = {{4, 0}};
  first.big = {{130, 600}};
  OpCase middle = row("middle", 1, {2, 4, 3});
  middle.one = {{1, 4, 1}};
  middle.zero = {{0, 4, 3}};
  middle.big = {{9, 130, 70}};
  OpCase line = row("line", 0, {7});
  OpCase one = row("one_class", 1, {3, 1});
  OpCase whole = row("i64", -1, {2, 3});
  whole.inputs = {integers({2, 3}, -4, 5)};
  whole.result = f32;
  whole.differentiable = false;
  OpCase far = row("far", -1, {2, 4});
  far.inputs[0].range(-900, 900);
  OpCase long_row = row("long", -1, {2, 21});
  long_row.big = {{3, 20001}};
  for (OpCase* r : {&last, &first, &middle, &line, &one, &whole, &far, &long_row}) {
    rows.push_back(std::move(*r));
  }
  // A class that cannot be: probability 0, and gradient 0 rather than NaN.
  const double inf = std::numeric_limits<double>::infinity();
  OpCase impossible = row("impossible_class", -1, {2, 3});
  impossible.inputs[0].holding({0.5, -inf, 1, -inf, -1, -inf}).no_grad();
  rows.push_back(std::move(impossible));
}

OpCase normalised(const char* label, bool weight, bool bias) {
  OpCase row;
  row.name = "layer_norm";
  row.label = label;
  row.f = [weight, bias](const Tensors& x) {
    size_t k = 1;
    const Tensor w = weight ? x[k++] : Tensor();
    const Tensor b = bias ? x[k] : Tensor();
    return layer_norm(x[0], w, b);
  };
  row.inputs = {floats({2, 3, 5})};
  row.one = {{1, 1, 5}};
  row.zero = {{0, 3, 5}};
  row.big = {{8, 90, 130}};
  for (int i = 0; i < weight + bias; ++i) {
    row.inputs.push_back(floats({5}));
    row.one.push_back({5});
    row.zero.push_back({5});
    row.big.push_back({130});
  }
  row.naive = [weight, bias](const NaiveTensors& x) {
    NaiveTensor y = along(x[0], -1, [](const Values1d& v) { return standard(v, 1e-5); });
    size_t k = 1;
    if (weight) y = zip(y, x[k++], [](double a, double w) { return a * w; });
    if (bias) y = zip(y, x[k], [](double a, double b) { return a + b; });
    return y;
  };
  return row;
}

}  // namespace

std::vector<OpCase> rows_softmax() {
  std::vector<OpCase> rows;
  add_softmax(rows, "softmax", softmax, softmax_of);
  add_softmax(rows, "log_softmax", log_softmax, log_softmax_of);

  OpCase full = normalised("", true, true);
  full.bad = {{{floats({2, 3}), floats({2}), floats({3})}, ErrorKind::shape, "layer_norm"},
              {{floats({2, 3}), floats({3}), floats({1, 3})}, ErrorKind::shape, "layer_norm"},
              {{floats({}), floats({1}), floats({1})}, ErrorKind::shape, "layer_norm"},
              {{integers({2, 3}, 0, 4), floats({3}), floats({3})}, ErrorKind::dtype, "layer_norm"}};
  rows.push_back(std::move(full));
  rows.push_back(normalised("plain", false, false));
  rows.push_back(normalised("no_bias", true, false));
  rows.push_back(normalised("no_weight", false, true));
  OpCase line = normalised("line", true, true);
  line.inputs[0].shape = {5};
  line.one = {};
  line.zero = line.big = {};
  rows.push_back(std::move(line));
  // Of one element the gradient is 0, but for the rounding of terms as large as 1 / sqrt(eps).
  OpCase single = normalised("one_element", true, true);
  single.f = [](const Tensors& x) { return layer_norm(x[0], x[1], x[2], 0.5); };
  single.inputs = {floats({2, 1}), floats({1}), floats({1})};
  single.naive = [](const NaiveTensors& x) {
    return build(x[0].shape, [&](const Shape&) { return x[2].data[0]; });
  };
  single.one = all_one(single.inputs);
  single.zero = {{0, 1}, {1}, {1}};
  single.big = {};
  rows.push_back(std::move(single));
  OpCase eps = normalised("eps", false, false);
  eps.f = [](const Tensors& x) { return layer_norm(x[0], {}, {}, 0.5); };
  eps.naive = [](const NaiveTensors& x) {
    return along(x[0], -1, [](const Values1d& v) { return standard(v, 0.5); });
  };
  rows.push_back(std::move(eps));
  return rows;
}

}  // namespace fovea::cases
