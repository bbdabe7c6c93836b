// Norms over axes, products and scans, and normalisation of activations.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

double norm_of(const Values1d& v, double p) {
  double s = 0;
  for (double x : v) s = std::isinf(p) ? std::fmax(s, std::fabs(x)) : s + std::pow(std::fabs(x), p);
  return std::isinf(p) ? s : std::pow(s, 1 / p);
}

OpCase norm_case(const char* label, double p, const Shape& shape, std::vector<int64_t> axes,
                 bool keep, const Shape& zero, const Shape& big) {
  OpCase row;
  row.name = "norm";
  row.label = label;
  row.f = [p, axes, keep](const Tensors& x) { return norm(x[0], p, Axes(axes), keep); };
  row.inputs = {floats(shape).away_from({0})};
  if (std::isinf(p)) row.inputs = {floats(shape).range(-2, 3).no_ties()};  // nor in size
  row.naive = [p, axes, keep](const NaiveTensors& x) {
    return fold(x[0], axes, keep, [p](const Values1d& v) { return norm_of(v, p); });
  };
  row.one = all_one(row.inputs);
  row.zero = {zero};
  row.big = {big};
  row.bad = {{{floats({3})}, ErrorKind::index, "norm: ", [p](const Tensors& x) {
                return norm(x[0], p, 1);
              }}};
  return row;
}

void add_norm(std::vector<OpCase>& rows) {
  const double inf = std::numeric_limits<double>::infinity();
  rows.push_back(norm_case("", 2, {3, 5}, {}, false, {0, 5}, {300, 257}));
  rows.back().bad.push_back({{integers({3}, 0, 5)}, ErrorKind::dtype, "norm: "});
  rows.back().bad.push_back({{floats({3})}, ErrorKind::value, "norm: p is 0", [](const Tensors& x) {
                               return norm(x[0], 0);
                             }});
  rows.push_back(norm_case("last_kept", 2, {2, 3, 4}, {-1}, true, {2, 0, 4}, {40, 31, 65}));
  rows.push_back(norm_case("first", 2, {4, 3}, {0}, false, {0, 3}, {300, 70}));
  rows.push_back(norm_case("p1", 1, {2, 3, 4}, {1}, false, {2, 0, 4}, {40, 31, 65}));
  rows.push_back(norm_case("p3", 3, {2, 3, 4}, {0, 2}, false, {2, 0, 4}, {40, 31, 65}));
  rows.push_back(norm_case("p3_all", 3, {5}, {}, true, {0}, {70000}));
  rows.push_back(norm_case("half", 0.5, {2, 3}, {-1}, false, {2, 0}, {300, 65}));
  rows.push_back(norm_case("infinity", inf, {2, 3, 4}, {-1}, false, {0, 3, 4}, {40, 31, 65}));
  rows.push_back(norm_case("infinity_all", inf, {3, 4}, {}, true, {0, 4}, {300, 257}));
}

double product(const Values1d& v) {
  double p = 1;
  for (double x : v) p *= x;
  return p;
}

OpCase prod_case(const char* label, const Shape& shape, std::vector<int64_t> axes, bool keep) {
  OpCase row;
  row.name = "prod";
  row.label = label;
  row.f = [axes, keep](const Tensors& x) { return prod(x[0], Axes(axes), keep); };
  row.inputs = {floats(shape)};
  row.naive = [axes, keep](const NaiveTensors& x) { return fold(x[0], axes, keep, product); };
  row.one = all_one(row.inputs);
  return row;
}

void add_prod(std::vector<OpCase>& rows) {
  OpCase all = prod_case("", {2, 5}, {}, false);
  all.zero = {{0, 5}};
  all.bad = {
      {{floats({3})}, ErrorKind::index, "prod", [](const Tensors& x) { return prod(x[0], 1); }}};
  OpCase last = prod_case("last_kept", {2, 3, 4}, {-1}, true);
  last.zero = {{2, 3, 0}};
  last.inputs[0].range(0.8, 1.2);
  last.big = {{70, 30, 33}};
  OpCase outer = prod_case("first_and_last", {2, 3, 4}, {0, 2}, false);
  outer.zero = {{2, 0, 4}};
  OpCase lone = prod_case("scalar", {}, {}, false);
  OpCase zeros = prod_case("zeros", {3, 4}, {1}, false);  // one zero, two, none
  zeros.inputs[0].holding({0.5, 0, -1.5, 2, 0, 1, 0, -1, 0.7, 1.2, -0.4, 2});
  OpCase whole = prod_case("i64", {3, 4}, {0}, false);
  whole.inputs = {integers({3, 4}, -5, 6)};
  whole.result = i64;
  whole.differentiable = false;
  OpCase truths = whole;
  truths.label = "bool";
  truths.inputs = {bools({3, 4})};
  for (OpCase* r : {&all, &last, &outer, &lone, &zeros, &whole, &truths}) {
    rows.push_back(std::move(*r));
  }
}

void add_scan(std::vector<OpCase>& rows, const char* name, Tensor (*f)(const Tensor&, int64_t),
              Values1d (*naive)(const Values1d&), double low, double high) {
  for (int64_t axis : {0, 1, -1}) {
    OpCase scan;
    scan.name = name;
    scan.label = axis == 0 ? "first" : axis == 1 ? "middle" : "last";
    scan.f = [f, axis](const Tensors& x) { return f(x[0], axis); };
    scan.inputs = {floats({3, 4, 2}).range(low, high)};
    scan.naive = [naive, axis](const NaiveTensors& x) { return along(x[0], axis, naive); };
    scan.one = {{1, 1, 1}};
    scan.zero = {{3, 4, 0}};
    scan.big = {{70, 40, 33}};
    scan.bad = {
        {{floats({3})}, ErrorKind::index, name, [f](const Tensors& x) { return f(x[0], 1); }}};
    rows.push_back(std::move(scan));
  }
  OpCase lone;
  lone.name = name;
  lone.label = "scalar";
  lone.f = [f](const Tensors& x) { return f(x[0], 0); };
  lone.inputs = {floats({})};
  lone.naive = [](const NaiveTensors& x) { return x[0]; };
  rows.push_back(std::move(lone));
}

Values1d running_product(const Values1d& v) {
  Values1d y;
  double p = 1;
  for (double x : v) y.push_back(p *= x);
  return y;
}
Values1d running_logsumexp(const Values1d& v) {
  Values1d y;
  for (size_t i = 0; i < v.size(); ++i) {
    const double m = *std::max_element(v.begin(), v.begin() + i + 1);
    double s = 0;
    for (size_t j = 0; j <= i; ++j) s += m == v[j] ? 1 : std::exp(v[j] - m);
    y.push_back(m + std::log(std::isinf(m) ? 1 : s));
  }
  return y;
}

void add_scans(std::vector<OpCase>& rows) {
  add_scan(rows, "cumprod", cumprod, running_product, 0.8, 1.25);
  OpCase zeros = rows.back();
  zeros.label = "zeros";
  zeros.f = [](const Tensors& x) { return cumprod(x[0], -1); };
  zeros.inputs = {floats({3, 4}).holding({0.5, 0, -1.5, 2, 0, 1, 0, -1, 0.7, 1.2, -0.4, 2})};
  zeros.naive = [](const NaiveTensors& x) { return along(x[0], -1, running_product); };
  rows.push_back(std::move(zeros));
  add_scan(rows, "logcumsumexp", logcumsumexp, running_logsumexp, -3, 3);
  OpCase far = rows.back();
  const double inf = std::numeric_limits<double>::infinity();
  far.label = "far";
  far.f = [](const Tensors& x) { return logcumsumexp(x[0], -1); };
  far.inputs = {floats({2, 4}).range(-900, 900)};
  far.one = {{1, 1}};
  far.naive = [](const NaiveTensors& x) { return along(x[0], -1, running_logsumexp); };
  OpCase nothing = far;
  nothing.label = "nothing_yet";
  nothing.inputs = {floats({2, 4}).holding({-inf, -inf, 1, 2, 0.5, -inf, -1, -inf}).no_grad()};
  rows.push_back(std::move(far));
  rows.push_back(std::move(nothing));
}

// (v - mean) / sqrt(var + eps), or v / sqrt(mean square + eps).
Values1d standard(const Values1d& v, double eps, bool centred) {
  double mean = 0, square = 0;
  const auto n = static_cast<double>(v.size());
  for (double x : v) mean += centred ? x / n : 0;
  for (double x : v) square += (x - mean) * (x - mean) / n;
  Values1d y;
  for (double x : v) y.push_back((x - mean) / std::sqrt(square + eps));
  return y;
}

double channel(const NaiveTensor& w, const Shape& i) { return w.at({i[1]}); }

void add_rms_norm(std::vector<OpCase>& rows) {
  OpCase row;
  row.name = "rms_norm";
  row.f = [](const Tensors& x) { return rms_norm(x[0], x[1], 0.1); };
  row.inputs = {floats({2, 3, 5}), floats({5})};
  row.naive = [](const NaiveTensors& x) {
    return zip(along(x[0], -1, [](const Values1d& v) { return standard(v, 0.1, false); }), x[1],
               [](double a, double b) { return a * b; });
  };
  row.one = {{1, 1, 1}, {1}};
  row.zero = {{0, 3, 5}, {5}};
  row.big = {{40, 31, 65}, {65}};
  row.bad = {{{floats({2, 3}), floats({2})}, ErrorKind::shape, "rms_norm: weight"},
             {{floats({2, 0}), floats({0})}, ErrorKind::shape, "rms_norm: x"},
             {{integers({2, 3}, 0, 5), floats({3})}, ErrorKind::dtype, "rms_norm: "}};
  OpCase bare = row;
  bare.label = "no_weight";
  bare.f = [](const Tensors& x) { return rms_norm(x[0]); };
  bare.inputs = {floats({3, 4})};
  bare.naive = [](const NaiveTensors& x) {
    return along(x[0], -1, [](const Values1d& v) { return standard(v, 1e-6, false); });
  };
  bare.one = {{1, 4}};
  bare.zero = {{0, 4}};
  bare.big = {{300, 65}};
  bare.bad = {};
  rows.push_back(std::move(row));
  rows.push_back(std::move(bare));
}

NaiveTensor batch_of(const NaiveTensors& x, double eps) {
  NaiveTensor y = x[0];
  for (int64_t c = 0; c < x[0].shape[1]; ++c) {
    Values1d v;
    const auto mine = [&](const auto& f) {
      each_index(x[0].shape, [&](const Shape& i) {
        if (i[1] == c) f(i);
      });
    };
    mine([&](const Shape& i) { v.push_back(x[0].at(i)); });
    const Values1d n = standard(v, eps, true);
    size_t k = 0;
    mine([&](const Shape& i) { y.at(i) = n[k++] * channel(x[1], i) + channel(x[2], i); });
  }
  return y;
}

void add_batch_norm(std::vector<OpCase>& rows) {
  OpCase row;
  row.name = "batch_norm";
  row.f = [](const Tensors& x) { return batch_norm(x[0], {}, {}, x[1], x[2], {.eps = 0.1}); };
  row.inputs = {floats({3, 2, 2, 2}), floats({2}), floats({2})};
  row.naive = [](const NaiveTensors& x) { return batch_of(x, 0.1); };
  row.one = {{1, 1, 2, 1}, {1}, {1}};  // one value a channel has no variance
  row.big = {{20, 5, 31, 33}, {5}, {5}};
  row.bad = {{{floats({4, 2}), floats({3}), floats({2})}, ErrorKind::shape, "batch_norm: weight"},
             {{floats({4, 2}), floats({2}), floats({3})}, ErrorKind::shape, "batch_norm: bias"},
             {{floats({4}), floats({2}), floats({2})}, ErrorKind::shape, "batch_norm: x"},
             {{floats({1, 2}), floats({2}), floats({2})}, ErrorKind::shape, "1 values per channel"},
             {{floats({4, 2}), floats({2}), floats({2})},
              ErrorKind::shape,
              "running_mean is undefined",
              [](const Tensors& x) { return batch_norm(x[0], {}, {}, {}, {}, {false}); }}};
  OpCase flat = row;
  flat.label = "two_axes";
  flat.inputs = {floats({3, 5}), floats({5}), floats({5})};
  flat.one = {{2, 1}, {1}, {1}};
  flat.big = {{700, 5}, {5}, {5}};
  flat.bad = {};

  OpCase still = row;
  still.label = "running";
  still.f = [](const Tensors& x) {
    return batch_norm(x[0], x[1], x[2], {}, {}, {false, 0.1, 0.1});
  };
  still.inputs = {floats({3, 2, 4}), floats({2}), floats({2}).range(0.5, 2)};
  still.naive = [](const NaiveTensors& x) {
    return build(x[0].shape, [&](const Shape& i) {
      return (x[0].at(i) - channel(x[1], i)) / std::sqrt(channel(x[2], i) + 0.1);
    });
  };
  still.one = {{1, 1, 1}, {1}, {1}};
  still.zero = {{0, 2, 4}, {2}, {2}};
  still.big = {{20, 5, 700}, {5}, {5}};
  still.bad = {};

  for (bool variance : {false, true}) {  // how training moves the running statistics
    OpCase moved;
    moved.name = "batch_norm";
    moved.label = variance ? "moved_var" : "moved_mean";
    moved.f = [variance](const Tensors& x) {
      const Tensor m = full({2}, 3, x[0].dtype()), v = full({2}, 5, x[0].dtype());
      const Tensor unused = batch_norm(x[0], m, v, {}, {}, {.momentum = 0.25});
      return variance ? v : m;
    };
    moved.inputs = {floats({4, 2, 3})};
    moved.naive = [variance](const NaiveTensors& x) {
      return fold(x[0], {0, 2}, false, [variance](const Values1d& v) {
        double mean = 0, spread = 0;
        const auto n = static_cast<double>(v.size());
        for (double a : v) mean += a / n;
        for (double a : v) spread += (a - mean) * (a - mean) / (n - 1);
        return variance ? 0.75 * 5 + 0.25 * spread : 0.75 * 3 + 0.25 * mean;
      });
    };
    moved.differentiable = false;
    moved.one = {{1, 2, 2}};
    rows.push_back(std::move(moved));
  }
  rows.push_back(std::move(row));
  rows.push_back(std::move(flat));
  rows.push_back(std::move(still));
}

void add_group_norm(std::vector<OpCase>& rows) {
  OpCase row;
  row.name = "group_norm";
  row.f = [](const Tensors& x) { return group_norm(x[0], 2, x[1], x[2], 0.1); };
  row.inputs = {floats({2, 4, 3}), floats({4}), floats({4})};
  row.naive = [](const NaiveTensors& x) {
    const Shape s = x[0].shape;
    if (x[0].numel() == 0) return x[0];
    const NaiveTensor n = along(reshape(x[0], {s[0], 2, x[0].numel() / (2 * s[0])}), -1,
                                [](const Values1d& v) { return standard(v, 0.1, true); });
    const NaiveTensor y = reshape(n, s);
    return build(s, [&](const Shape& i) { return y.at(i) * channel(x[1], i) + channel(x[2], i); });
  };
  row.one = {{1, 2, 1}, {2}, {2}};  // one value a group
  row.zero = {{0, 4, 3}, {4}, {4}};
  row.big = {{20, 6, 700}, {6}, {6}};
  row.bad = {{{floats({2, 3, 2}), floats({3}), floats({3})}, ErrorKind::shape, "groups is 2"},
             {{floats({4}), floats({4}), floats({4})}, ErrorKind::shape, "group_norm: x"},
             {{floats({2, 4}), floats({3}), floats({4})}, ErrorKind::shape, "group_norm: weight"}};
  OpCase flat = row;
  flat.label = "two_axes";
  flat.inputs[0].shape = {3, 4};
  flat.one = {{1, 4}, {4}, {4}};
  flat.zero = {};
  flat.big = {{300, 64}, {64}, {64}};
  flat.bad = {};
  OpCase bare = row;
  bare.label = "one_group";
  bare.f = [](const Tensors& x) { return group_norm(x[0], 1); };
  bare.inputs = {floats({2, 3, 2, 2})};
  bare.naive = [](const NaiveTensors& x) {
    const Shape s = x[0].shape;
    return reshape(along(reshape(x[0], {s[0], x[0].numel() / s[0]}), -1,
                         [](const Values1d& v) { return standard(v, 1e-5, true); }),
                   s);
  };
  bare.one = {{1, 1, 1, 1}};
  bare.zero = {};
  bare.big = {{20, 6, 30, 20}};
  bare.bad = {};
  rows.push_back(std::move(row));
  rows.push_back(std::move(flat));
  rows.push_back(std::move(bare));
}

}  // namespace

std::vector<OpCase> rows_norm() {
  std::vector<OpCase> rows;
  add_norm(rows);
  add_prod(rows);
  add_scans(rows);
  add_rms_norm(rows);
  add_batch_norm(rows);
  add_group_norm(rows);
  return rows;
}

}  // namespace fovea::cases
