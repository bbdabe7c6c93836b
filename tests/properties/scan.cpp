// What changes every line along an axis into another: running sums and products, softmax and its
// sparse relatives.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/ops/ops.h"
#include "tests/properties/models.h"

namespace fovea::properties {
namespace {

using Scan = Tensor (*)(const Tensor&, int64_t);

Trial along(Scan f, const Tensor& x, const Slopes& value, const LineGradient& gradient) {
  const int64_t axis = any_axis(x.dim());
  return scanned([=](const Tensor& in) { return f(in, axis); }, x, axis, value, gradient);
}

double inner(const Values1d& a, const Values1d& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

Values1d running_sum(const Values1d& v) {
  Values1d y(v.size());
  std::partial_sum(v.begin(), v.end(), y.begin());
  return y;
}

Trial cumsum_trial() {
  const Tensor x = chance(6) ? any_integers(any_shape(), -9, 10) : any_floats(any_shape());
  return along(cumsum, x, running_sum, [](const Values1d&, const Values1d& w) {
    Values1d g(w.size());
    std::partial_sum(w.rbegin(), w.rend(), g.rbegin());
    return g;
  });
}

// d y_j / d x_i = prod_{k <= j, k != i} x_k for j >= i
Trial cumprod_trial() {
  const Shape shape = any_shape();
  const Tensor x = chance(6) ? any_integers(shape, -2, 3) : any_floats(shape);
  return along(
             cumprod, x,
             [](const Values1d& v) {
               Values1d y(v.size());
               std::partial_sum(v.begin(), v.end(), y.begin(), std::multiplies<>());
               return y;
             },
             [](const Values1d& v, const Values1d& w) {
               Values1d g(v.size(), 0.0);
               for (size_t i = 0; i < v.size(); ++i) {
                 double others = 1;
                 for (size_t j = 0; j < v.size(); ++j) {
                   if (j != i) others *= v[j];
                   if (j >= i) g[i] += w[j] * others;
                 }
               }
               return g;
             })
      .gives({promote(x.dtype(), f32)});
}

Values1d running_log_sum(const Values1d& v) {
  Values1d y;
  double s = 0;
  for (double x : v) y.push_back(std::log(s += std::exp(x)));
  return y;
}

Trial logcumsumexp_trial() {
  return along(logcumsumexp, any_floats(any_shape()), running_log_sum,
               [](const Values1d& v, const Values1d& w) {
                 const Values1d y = running_log_sum(v);
                 Values1d g(v.size(), 0.0);
                 for (size_t i = 0; i < v.size(); ++i) {
                   for (size_t j = i; j < v.size(); ++j) g[i] += w[j] * std::exp(v[i] - y[j]);
                 }
                 return g;
               });
}

Values1d softmax_of(const Values1d& v) {
  Values1d y;
  for (double x : v) y.push_back(std::exp(x));
  const double s = std::accumulate(y.begin(), y.end(), 0.0);
  for (double& p : y) p /= s;
  return y;
}

Trial softmax_trial() {
  return along(softmax, any_floats(any_shape()), softmax_of,
               [](const Values1d& v, const Values1d& w) {
                 const Values1d y = softmax_of(v);
                 Values1d g;
                 for (size_t i = 0; i < y.size(); ++i) g.push_back(y[i] * (w[i] - inner(w, y)));
                 return g;
               });
}

Trial log_softmax_trial() {
  return along(
      log_softmax, any_floats(any_shape()),
      [](const Values1d& v) {
        Values1d y = softmax_of(v);
        for (double& p : y) p = std::log(p);
        return y;
      },
      [](const Values1d& v, const Values1d& w) {
        const Values1d y = softmax_of(v);
        const double s = std::accumulate(w.begin(), w.end(), 0.0);
        Values1d g;
        for (size_t i = 0; i < y.size(); ++i) g.push_back(w[i] - y[i] * s);
        return g;
      });
}

// t such that max(scale x - t, 0)^power sums to 1, by halving.
double threshold(const Values1d& v, double scale, double power) {
  const double top = scale * *std::max_element(v.begin(), v.end());
  double low = top - 1, high = top;
  for (int step = 0; step < 80; ++step) {
    const double t = (low + high) / 2;
    double sum = 0;
    for (double x : v) sum += std::pow(std::fmax(scale * x - t, 0), power);
    (sum > 1 ? low : high) = t;
  }
  return low;
}

// gx = r (gy - sum(r gy) / sum r): for sparsemax r is 1 on the support, for entmax15 sqrt(y).
Trial projection_trial(Scan f, double scale, double power) {
  const Tensor x = any_floats(any_shape());
  const int64_t axis = any_axis(x.dim());
  const auto line = [=](const Values1d& v, double exponent) {
    Values1d y;
    const double t = v.empty() ? 0 : threshold(v, scale, power);
    for (double e : v) {
      const double above = scale * e - t;
      // At the border of the support the slope jumps.
      assume(std::fabs(above) > 1e-5);
      y.push_back(above > 0 ? std::pow(above, exponent) : 0);
    }
    return y;
  };
  return scanned([=](const Tensor& in) { return f(in, axis); }, x, axis,
                 [=](const Values1d& v) { return line(v, power); },
                 [=](const Values1d& v, const Values1d& w) {
                   const Values1d r = line(v, power - 1);
                   const double mean = inner(r, w) / std::accumulate(r.begin(), r.end(), 0.0);
                   Values1d g;
                   for (size_t i = 0; i < r.size(); ++i) g.push_back(r[i] * (w[i] - mean));
                   return g;
                 });
}

}  // namespace

Properties scan_properties() {
  return {{"cumsum", cumsum_trial},
          {"cumprod", cumprod_trial},
          {"logcumsumexp", logcumsumexp_trial},
          {"softmax", softmax_trial},
          {"log_softmax", log_softmax_trial},
          {"sparsemax", [] { return projection_trial(sparsemax, 1, 1); }},
          {"entmax15", [] { return projection_trial(entmax15, 0.5, 2); }}};
}

}  // namespace fovea::properties
