// Categories drawn by weight.                       p: (.., K) weights, y: (.., n) categories
// With replacement: y_j is where u_j falls among the running sums of the weights.
// Without: the n smallest of E_k / p_k with E_k exponential, in rising order. The smallest of such
// variables is k with probability p_k / sum p, and those left race on with what is left of the sum:
// Efraimidis & Spirakis 2006.
// No gradient: integers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/core/allocator.h"
#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/random.h"
#include "fovea/ops/sampling.h"

namespace fovea {
namespace {

struct Draw {
  int64_t k, n;
  bool replacement;
  RandomKey key;
};

// The weights of a row times the power of two that brings the largest near 1, so that their sum
// cannot overflow.
template <class T>
void scaled_weights(const T* p, int64_t row, const Draw& d, double* w) {
  double largest = 0;
  int64_t positive = 0;
  for (int64_t i = 0; i < d.k; ++i) {
    if (!(p[i] >= 0) || !std::isfinite(p[i])) {
      throw ValueError(
          fmt::format("multinomial: p is {} at class {} of row {}; weights must be finite and not "
                      "negative",
                      p[i], i, row));
    }
    largest = std::max(largest, static_cast<double>(p[i]));
    positive += p[i] > 0;
  }
  const int64_t needed = d.replacement ? std::min<int64_t>(d.n, 1) : d.n;
  if (positive < needed) {
    throw ValueError(
        fmt::format("multinomial: row {} of p has {} positive weights among {}; n = {} {} "
                    "replacement takes at least {}",
                    row, positive, d.k, d.n, d.replacement ? "with" : "without", needed));
  }
  const double scale = std::ldexp(1.0, -std::max(std::ilogb(largest), -1000));
  for (int64_t i = 0; i < d.k; ++i) w[i] = static_cast<double>(p[i]) * scale;
}

void draw_with_replacement(double* w, int64_t row, const Draw& d, int64_t* y) {
  std::partial_sum(w, w + d.k, w);
  Scratch<double> u(d.n);
  kernels::fill_uniform(u.data(), row * d.n, d.n, d.key.seed, d.key.stream, 0.0, 1.0);
  for (int64_t j = 0; j < d.n; ++j) y[j] = detail::pick_category(w, d.k, u[j]);
}

template <class T>
void draw_distinct(const T* p, const double* w, int64_t row, const Draw& d, int64_t* y) {
  Scratch<double> time(d.k);
  kernels::fill_uniform_open(time.data(), row * d.k, d.k, d.key.seed, d.key.stream);
  Scratch<int64_t> racers(d.k);
  int64_t count = 0;
  for (int64_t i = 0; i < d.k; ++i) {
    time[i] = -std::log(time[i]) / w[i];
    if (p[i] > 0) racers[count++] = i;
  }
  const auto sooner = [&](int64_t a, int64_t b) {
    return time[a] < time[b] || (time[a] == time[b] && a < b);
  };
  std::partial_sort(racers.data(), racers.data() + d.n, racers.data() + count, sooner);
  std::copy_n(racers.data(), d.n, y);
}

}  // namespace

Tensor multinomial(const Tensor& p, int64_t n, bool replacement, Generator* g) {
  detail::check_floating("multinomial", "p", p);
  if (p.dim() == 0) throw ShapeError("multinomial: p is []; its last axis must be the classes");
  if (n < 0) throw ValueError(fmt::format("multinomial: n is {}; at least 0 is needed", n));
  const Draw d{p.shape().back(), n, replacement, (g ? *g : default_generator()).next()};
  Shape shape = p.shape();
  shape[p.dim() - 1] = n;
  shape.numel("multinomial");
  Tensor y = Tensor::empty(shape, i64);
  if (y.numel() == 0) return y;
  const Tensor weights = detail::packed(p);
  visit_floating(p.dtype(), [&](auto zero) {
    const auto* ps = weights.data<decltype(zero)>();
    parallel_for(y.numel() / n, grain_for(d.k + n), [&](int64_t begin, int64_t end) {
      Scratch<double> w(d.k);
      for (int64_t row = begin; row < end; ++row) {
        int64_t* out = y.data<int64_t>() + row * n;
        scaled_weights(ps + row * d.k, row, d, w.data());
        if (replacement || n == 1) {
          draw_with_replacement(w.data(), row, d, out);
        } else {
          draw_distinct(ps + row * d.k, w.data(), row, d, out);
        }
      }
    });
  });
  return unrecorded("multinomial", std::move(y), {p});
}

}  // namespace fovea
