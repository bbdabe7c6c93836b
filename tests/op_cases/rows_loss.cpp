// Losses.
#include <algorithm>
#include <cmath>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

constexpr Reduction kReductions[] = {Reduction::mean, Reduction::sum, Reduction::none};
const char* label_of(Reduction r) {
  return r == Reduction::mean ? "" : r == Reduction::sum ? "sum" : "none";
}

// losses, of which `counted` enter the mean.
NaiveTensor reduced(const NaiveTensor& losses, Reduction r, double counted) {
  if (r == Reduction::none) return losses;
  double sum = 0;
  for (double v : losses.data) sum += v;
  if (r == Reduction::mean) sum = counted == 0 ? 0 : sum / counted;
  return scalar(sum);
}

// -sum_k w_k t_k log p_k where t mixes the target with the uniform distribution, log p from logits.
NaiveTensor classified(const NaiveTensors& x, bool are_logits, double smoothing, int64_t ignore,
                       Reduction r, const std::vector<double>& weight = {}) {
  NaiveTensor logp = x[0];
  if (are_logits) {
    logp = along(x[0], -1, [](const Values1d& v) {
      const double m = *std::max_element(v.begin(), v.end());
      double sum = 0;
      for (double a : v) sum += std::exp(a - m);
      Values1d y;
      for (double a : v) y.push_back(a - m - std::log(sum));
      return y;
    });
  }
  const int64_t classes = x[0].shape.back();
  double counted = 0;
  const NaiveTensor losses = build(x[1].shape, [&](const Shape& i) {
    const auto target = static_cast<int64_t>(x[1].at(i));
    if (target == ignore) return 0.0;
    const auto w = [&](int64_t k) { return weight.empty() ? 1.0 : weight[static_cast<size_t>(k)]; };
    counted += w(target);
    double loss = 0;
    Shape at = i;
    at.push_back(0);
    for (int64_t k = 0; k < classes; ++k) {
      at[at.rank() - 1] = k;
      const double t = (1 - smoothing) * (k == target) + smoothing / static_cast<double>(classes);
      if (t != 0) loss -= w(k) * t * logp.at(at);
    }
    return loss;
  });
  return reduced(losses, r, counted);
}

InputSpec targets(const Shape& shape, std::vector<double> values) {
  return integers(shape, 0, 4).holding(std::move(values));
}

void add_cross_entropy(std::vector<OpCase>& rows) {
  for (Reduction r : kReductions) {
    OpCase row;
    row.name = "cross_entropy";
    row.label = label_of(r);
    row.f = [r](const Tensors& x) { return cross_entropy(x[0], x[1], {.reduction = r}); };
    row.inputs = {floats({2, 3, 4}), integers({2, 3}, 0, 4)};
    row.naive = [r](const NaiveTensors& x) { return classified(x, true, 0, -100, r); };
    row.one = {{1, 1, 4}, {1, 1}};
    row.zero = {{0, 3, 4}, {0, 3}};
    row.big = {{9, 90, 130}, {9, 90}};
    if (r == Reduction::mean) {
      const auto index = ErrorKind::index, shape = ErrorKind::shape;
      row.bad = {
          {{floats({2, 4}), targets({2}, {0, 4})}, index, "cross_entropy"},
          {{floats({2, 4}), targets({2}, {0, -1})}, index, "cross_entropy"},
          {{floats({2, 4}), integers({3}, 0, 4)}, shape, "cross_entropy"},
          {{floats({2, 4}), integers({2, 4}, 0, 4)}, shape, "cross_entropy"},
          {{floats({2, 4}), floats({2}).no_grad()}, ErrorKind::dtype, "cross_entropy"},
          {{floats({2, 4}), integers({2}, 0, 4)},
           ErrorKind::value,
           "cross_entropy",
           [](const Tensors& x) { return cross_entropy(x[0], x[1], {.label_smoothing = 1.5}); }}};
    }
    rows.push_back(row);

    OpCase smooth = row;
    smooth.label += smooth.label.empty() ? "smooth_ignore" : "_smooth_ignore";
    smooth.f = [r](const Tensors& x) {
      return cross_entropy(x[0], x[1], {.ignore_index = 2, .label_smoothing = 0.1, .reduction = r});
    };
    smooth.inputs[1].holding({0, 2, 3, 1, 2, 1});
    smooth.naive = [r](const NaiveTensors& x) { return classified(x, true, 0.1, 2, r); };
    smooth.bad = {};
    rows.push_back(smooth);

    OpCase weighted = smooth;
    weighted.label.replace(weighted.label.find("smooth"), 6, "weights_smooth");
    const std::vector<double> weight{0.5, 2, 1, 0.25};
    weighted.f = [r, weight](const Tensors& x) {
      return cross_entropy(x[0], x[1],
                           {.ignore_index = 2,
                            .label_smoothing = 0.1,
                            .reduction = r,
                            .weight = from_vector(weight, {4})});
    };
    weighted.naive = [r, weight](const NaiveTensors& x) {
      return classified(x, true, 0.1, 2, r, weight);
    };
    weighted.big = {{900, 90, 4}, {900, 90}};
    if (r == Reduction::mean) {
      const auto bad_weight = [](const Tensor& w) {
        return [w](const Tensors& x) { return cross_entropy(x[0], x[1], {.weight = w}); };
      };
      weighted.bad = {{{floats({2, 4}), integers({2}, 0, 4)},
                       ErrorKind::shape,
                       "weight is [3], logits is [2, 4]; need one number a class, [4]",
                       bad_weight(ones({3}))},
                      {{floats({2, 4}), integers({2}, 0, 4)},
                       ErrorKind::dtype,
                       "cross_entropy: weight",
                       bad_weight(ones({4}, i64))},
                      {{floats({2, 4}), integers({2}, 0, 4)},
                       ErrorKind::graph,
                       "cross_entropy: weight requires a gradient",
                       bad_weight(ones({4}).requires_grad_())}};
    }
    rows.push_back(std::move(weighted));
  }
  OpCase one = rows[0];
  one.label = "one_row";
  one.inputs = {floats({5}), integers({}, 0, 5)};
  one.one = one.zero = one.big = {};
  one.bad = {};
  OpCase sure = one;
  sure.label = "one_class";
  sure.inputs = {floats({3, 1}), integers({3}, 0, 1)};
  sure.one = {{1, 1}, {1}};
  rows.push_back(std::move(one));
  rows.push_back(std::move(sure));
  OpCase nothing = rows[0];
  nothing.label = "all_ignored";
  nothing.inputs[1].holding({-100, -100, -100, -100, -100, -100});
  nothing.one = nothing.zero = nothing.big = {};
  nothing.bad = {};
  rows.push_back(std::move(nothing));
}

void add_nll(std::vector<OpCase>& rows) {
  for (Reduction r : kReductions) {
    OpCase row;
    row.name = "nll_loss";
    row.label = label_of(r);
    row.f = [r](const Tensors& x) {
      return nll_loss(x[0], x[1], {.ignore_index = 1, .reduction = r});
    };
    row.inputs = {floats({2, 3, 4}).range(-4, 0), targets({2, 3}, {0, 1, 3, 1, 2, 2})};
    row.naive = [r](const NaiveTensors& x) { return classified(x, false, 0, 1, r); };
    row.one = {{1, 1, 4}, {1, 1}};
    row.zero = {{0, 3, 4}, {0, 3}};
    row.big = {{9, 900, 13}, {9, 900}};
    row.inputs[1].high = 4;
    if (r == Reduction::mean) {
      row.bad = {{{floats({2, 4}), targets({2}, {0, 4})}, ErrorKind::index, "nll_loss"},
                 {{floats({2, 4}), integers({3}, 0, 4)}, ErrorKind::shape, "nll_loss"},
                 {{floats({2, 4}), floats({2}).no_grad()}, ErrorKind::dtype, "nll_loss"}};
    }
    rows.push_back(row);
    row.label += row.label.empty() ? "weights" : "_weights";
    const std::vector<double> weight{0.5, 2, 1, 0.25};
    row.f = [r, weight](const Tensors& x) {
      return nll_loss(x[0], x[1],
                      {.ignore_index = 1, .reduction = r, .weight = from_vector(weight, {4})});
    };
    row.naive = [r, weight](const NaiveTensors& x) {
      return classified(x, false, 0, 1, r, weight);
    };
    row.big = {{900, 90, 4}, {900, 90}};
    row.zero = {{0, 3, 4}, {0, 3}};
    row.bad = {};
    rows.push_back(std::move(row));
  }
}

void add_pairwise(std::vector<OpCase>& rows, const char* name,
                  Tensor (*f)(const Tensor&, const Tensor&, Reduction),
                  double (*naive)(double, double), InputSpec target) {
  for (Reduction r : kReductions) {
    OpCase row;
    row.name = name;
    row.label = label_of(r);
    row.f = [f, r](const Tensors& x) { return f(x[0], x[1], r); };
    row.inputs = {floats({3, 4}), target};
    row.naive = [naive, r](const NaiveTensors& x) {
      const NaiveTensor y = zip(x[0], x[1], naive);
      return reduced(y, r, static_cast<double>(y.numel()));
    };
    row.one = all_one(row.inputs);
    if (r != Reduction::mean) row.zero = {{0, 4}, {0, 4}};
    row.big = {{300, 257}, {300, 257}};
    if (r == Reduction::mean) {
      row.bad = {{{floats({3, 4}), floats({5})}, ErrorKind::shape, name}};
    }
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::vector<OpCase> rows_loss() {
  std::vector<OpCase> rows;
  add_cross_entropy(rows);
  add_nll(rows);
  add_pairwise(
      rows, "mse_loss", mse_loss, [](double x, double t) { return (x - t) * (x - t); },
      floats({3, 4}));
  const auto bce = [](double x, double t) {
    return std::fmax(x, 0) - x * t + std::log1p(std::exp(-std::fabs(x)));
  };
  add_pairwise(rows, "binary_cross_entropy_with_logits", binary_cross_entropy_with_logits, bce,
               floats({3, 4}).range(0, 1));
  OpCase far = rows.back();
  far.label = "far";
  far.inputs[0].range(-700, 700);
  far.zero = far.big = {};
  rows.push_back(std::move(far));

  const auto of_probability = [](double p, double t) {
    return -t * std::log(p) - (1 - t) * std::log(1 - p);
  };
  add_pairwise(rows, "binary_cross_entropy", binary_cross_entropy, of_probability,
               floats({3, 4}).range(0, 1));
  for (OpCase& row : rows) {
    if (row.name == "binary_cross_entropy") row.inputs[0].range(0.05, 0.95);
    if (row.name == "binary_cross_entropy" && row.label.empty()) {
      row.bad.push_back({{floats({2}).holding({0.5, 1.5}), floats({2})},
                         ErrorKind::value,
                         "holds a value outside [0, 1]"});
    }
  }
  OpCase sure = rows.back();  // 0 and 1: logarithms stop at -100
  sure.label = "certain";
  sure.inputs = {floats({4}).holding({0, 1, 0, 1}).no_grad(),
                 floats({4}).holding({0, 1, 1, 0}).no_grad()};
  sure.naive = [](const NaiveTensors&) { return NaiveTensor{{4}, {0, 0, 100, 100}}; };
  sure.one = sure.zero = sure.big = {};
  rows.push_back(std::move(sure));

  // The kinks lie where x and target meet, or are delta apart.
  add_pairwise(
      rows, "l1_loss", l1_loss, [](double x, double t) { return std::fabs(x - t); },
      floats({3, 4}).range(3, 5));
  const auto huber = [](double x, double t) {
    const double d = std::fabs(x - t);
    return d <= 1 ? d * d / 2 : d - 0.5;
  };
  const auto huber_1 = [](const Tensor& x, const Tensor& t, Reduction r) {
    return huber_loss(x, t, 1, r);
  };
  add_pairwise(rows, "huber_loss", huber_1, huber, floats({3, 4}).range(4, 5));
  rows[rows.size() - 3].bad.push_back({{floats({2}), floats({2})},
                                       ErrorKind::value,
                                       "huber_loss: delta is 0",
                                       [](const Tensors& x) { return huber_loss(x[0], x[1], 0); }});
  OpCase near = rows.back();
  near.label = "near";
  near.inputs = {floats({3, 4}).range(-0.4, 0.4), floats({3, 4}).range(-0.4, 0.4)};
  OpCase steep = near;
  steep.label = "delta";
  steep.f = [](const Tensors& x) { return huber_loss(x[0], x[1], 3, Reduction::none); };
  steep.inputs = {floats({2}).holding({0.5, -1}), floats({2}).holding({1.5, 4})};
  steep.naive = [](const NaiveTensors&) { return NaiveTensor{{2}, {0.5, 3 * (5 - 1.5)}}; };
  steep.one = steep.zero = steep.big = {};
  rows.push_back(std::move(near));
  rows.push_back(std::move(steep));

  add_pairwise(
      rows, "kl_div", kl_div, [](double x, double t) { return t > 0 ? t * (std::log(t) - x) : 0; },
      floats({3, 4}).range(0.1, 1));
  OpCase never = rows.back();
  never.label = "zero_target";
  never.inputs = {floats({2, 2}), floats({2, 2}).holding({0, 0.4, 0.6, 0}).no_grad()};
  never.one = never.zero = never.big = {};
  rows.push_back(std::move(never));
  return rows;
}

}  // namespace fovea::cases
