// Reductions over any axes: sums, moments, extremes, products, norms.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/ops/ops.h"
#include "tests/properties/models.h"

namespace fovea::properties {
namespace {

double count(const Values1d& v) { return static_cast<double>(v.size()); }
double total(const Values1d& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double average(const Values1d& v) { return total(v) / count(v); }
double largest(const Values1d& v) { return *std::max_element(v.begin(), v.end()); }
double smallest(const Values1d& v) { return *std::min_element(v.begin(), v.end()); }
double product_of(const Values1d& v) {
  return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>());
}
double variance(const Values1d& v, double correction) {
  double s = 0;
  for (double x : v) s += (x - average(v)) * (x - average(v));
  return s / (count(v) - correction);
}

Values1d each(const Values1d& v, const std::function<double(double)>& f) {
  Values1d y;
  for (double x : v) y.push_back(f(x));
  return y;
}

// 1 shared among the elements that equal `best`.
Values1d shared(const Values1d& v, double best) {
  const auto ties = static_cast<double>(std::count(v.begin(), v.end(), best));
  return each(v, [=](double x) { return x == best ? 1 / ties : 0.0; });
}

struct Where {
  std::vector<int64_t> axes;
  bool keep;
};
Where anywhere(int rank) { return {any_axes(rank), chance(2)}; }

using Reduce = Tensor (*)(const Tensor&, const Axes&, bool);

Trial reduced(Reduce f, const Tensor& x, const Line& value, const Slopes& slopes) {
  const Where at = anywhere(x.dim());
  return folded([=](const Tensor& in) { return f(in, Axes(at.axes), at.keep); }, x, at.axes,
                at.keep, value, slopes);
}

Trial sum_trial() {
  if (chance(6)) {
    const Shape shape = any_shape();
    return reduced(sum, chance(2) ? any_bools(shape) : any_integers(shape, -9, 10), total, {})
        .gives({i64});
  }
  return reduced(sum, any_floats(any_shape()), total,
                 [](const Values1d& v) { return Values1d(v.size(), 1.0); });
}

Trial mean_trial() {
  return reduced(mean, any_floats(without_zeros(any_shape())), average,
                 [](const Values1d& v) { return Values1d(v.size(), 1 / count(v)); });
}

Trial spread_trial(Tensor (*f)(const Tensor&, const Axes&, int64_t, bool), bool root) {
  const Tensor x = any_floats(without_zeros(any_shape()));
  const Where at = anywhere(x.dim());
  const int64_t correction = draw(0, 2);
  const auto c = static_cast<double>(correction);
  const Function1 call = [=](const Tensor& in) {
    return f(in, Axes(at.axes), correction, at.keep);
  };
  double n = 0;
  bool steady = true;  // a line whose values are all but equal has the slope of its rounding
  folded(call, x, at.axes, at.keep, [&](const Values1d& v) {
    n = count(v);
    const double s = variance(v, 0);
    steady = steady && (s > 1e-3 || n == 1 || !root);
    return s;
  });
  assume(n > c && steady);
  return folded(
      call, x, at.axes, at.keep,
      [=](const Values1d& v) { return root ? std::sqrt(variance(v, c)) : variance(v, c); },
      [=](const Values1d& v) {
        const double m = average(v), s = std::sqrt(variance(v, c));
        const double scale = root ? (s > 0 ? 1 / s : 0) : 2;
        return each(v, [=](double e) { return scale * (e - m) / (count(v) - c); });
      });
}

Trial extreme_trial(Reduce f, const Line& best) {
  const Shape shape = without_zeros(any_shape());
  const Tensor x = chance(6) ? any_integers(shape, -3, 4) : any_floats(shape);
  return reduced(f, x, best, [best](const Values1d& v) { return shared(v, best(v)); });
}

// The first NaN, else the first x.
double place_of(const Values1d& v, double x) {
  auto at = std::find_if(v.begin(), v.end(), [](double e) { return std::isnan(e); });
  if (at == v.end()) at = std::find(v.begin(), v.end(), x);
  return static_cast<double>(at - v.begin());
}

using WithIndices = ValuesAndIndices (*)(const Tensor&, int64_t, bool);

// Along one axis: the first of ties is chosen, and gets the whole gradient. Without an axis: as
// amax.
Trial chosen_trial(WithIndices f, Tensor (*whole)(const Tensor&), const Line& best) {
  const Shape shape = without_zeros(any_shape());
  const Tensor x = chance(6) ? any_integers(shape, -3, 4) : any_floats(shape);
  if (chance(4)) {
    return folded(whole, x, {}, false, best,
                  [best](const Values1d& v) { return shared(v, best(v)); });
  }
  const int64_t axis = any_axis(x.dim());
  const bool keep = chance(2);
  Trial t =
      folded([=](const Tensor& in) { return f(in, axis, keep).values; }, x, {axis}, keep, best,
             [best](const Values1d& v) {
               Values1d slope(v.size(), 0.0);
               slope[static_cast<size_t>(place_of(v, best(v)))] = 1;
               return slope;
             });
  const Trial places =
      folded({}, x, {axis}, keep, [&](const Values1d& v) { return place_of(v, best(v)); });
  t.f = [=](const Tensors& in) {
    const auto [values, indices] = f(in[0], axis, keep);
    return Tensors{values, indices};
  };
  t.values.push_back(places.values[0]);
  return t.gives({x.dtype(), i64});
}

Trial place_trial(Tensor (*f)(const Tensor&, int64_t, bool), Tensor (*whole)(const Tensor&),
                  const Line& best) {
  const Shape shape = without_zeros(any_shape());
  const Tensor x =
      chance(6) ? any_integers(shape, -3, 4) : any_floats(shape, {-2, 2, {kNan, 0, 1}});
  const Line place = [best](const Values1d& v) { return place_of(v, best(v)); };
  if (chance(4)) return folded(whole, x, {}, false, place).gives({i64});
  const int64_t axis = any_axis(x.dim());
  const bool keep = chance(2);
  return folded([=](const Tensor& in) { return f(in, axis, keep); }, x, {axis}, keep, place)
      .gives({i64});
}

// Mostly false, or mostly true.
Trial answer_trial(bool (*f)(const Tensor&), bool one_decides) {
  Tensor x = any_bools(any_shape());
  if (chance(2)) x = any_tensor(x.shape(), {0, 1}, boolean);
  if (!one_decides) x = logical_not(x);
  return folded([f](const Tensor& in) { return full({}, f(in), boolean); }, x, {}, false,
                [one_decides](const Values1d& v) {
                  const double ones = total(v);
                  return double(one_decides ? ones > 0 : ones == count(v));
                });
}

Trial logsumexp_trial() {
  const Tensor x = any_floats(any_shape(), {-2, 2, {-kInf, 1}});
  const Line value = [](const Values1d& v) {
    double s = 0;
    for (double e : v) s += std::exp(e);
    return std::log(s);
  };
  return reduced(logsumexp, x, value, [value](const Values1d& v) {
    const double y = value(v);
    return each(v, [y](double e) { return e == -kInf ? 0.0 : std::exp(e - y); });
  });
}

Trial prod_trial() {
  // Integers of few, or they would not be exact in a double.
  const Tensor x =
      chance(6) ? any_integers({draw(0, 4), draw(1, 4)}, -3, 4) : any_tensor(any_shape());
  return reduced(prod, x, product_of, [](const Values1d& v) {
    Values1d slope;
    for (size_t i = 0; i < v.size(); ++i) {
      Values1d others = v;
      others[i] = 1;
      slope.push_back(product_of(others));
    }
    return slope;
  });
}

Trial norm_trial() {
  constexpr double kOrders[] = {1, 2, kInf, 3, 1.5};
  const double p = kOrders[draw(0, 4)];
  const Tensor x = any_floats(any_shape());
  const Where at = anywhere(x.dim());
  const Line size = [p](const Values1d& v) {
    const Values1d a = each(v, [](double e) { return std::fabs(e); });
    if (v.empty()) return 0.0;
    if (p == kInf) return largest(a);
    return std::pow(total(each(a, [p](double e) { return std::pow(e, p); })), 1 / p);
  };
  return folded([=](const Tensor& in) { return norm(in, p, Axes(at.axes), at.keep); }, x, at.axes,
                at.keep, size,
                [p, size](const Values1d& v) {
                  const double y = size(v);
                  const Values1d ties = shared(each(v, [](double e) { return std::fabs(e); }), y);
                  Values1d slope;
                  for (size_t i = 0; i < v.size(); ++i) {
                    const double sign = (v[i] > 0) - (v[i] < 0);
                    const double part = p == kInf ? ties[i] : std::pow(std::fabs(v[i]) / y, p - 1);
                    slope.push_back(y == 0 || v[i] == 0 ? 0 : sign * part);
                  }
                  return slope;
                });
}

}  // namespace

Properties reduction_properties() {
  return {{"sum", sum_trial},
          {"mean", mean_trial},
          {"var", [] { return spread_trial(var, false); }},
          {"std", [] { return spread_trial(std, true); }},
          {"amax", [] { return extreme_trial(amax, largest); }},
          {"amin", [] { return extreme_trial(amin, smallest); }},
          {"max", [] { return chosen_trial(max, max, largest); }},
          {"min", [] { return chosen_trial(min, min, smallest); }},
          {"argmax", [] { return place_trial(argmax, argmax, largest); }},
          {"argmin", [] { return place_trial(argmin, argmin, smallest); }},
          {"any", [] { return answer_trial(any, true); }},
          {"all", [] { return answer_trial(all, false); }},
          {"logsumexp", logsumexp_trial},
          {"prod", prod_trial},
          {"norm", norm_trial}};
}

}  // namespace fovea::properties
