#include "fovea/nn/init.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea::init {
namespace {

void check_floating(const char* op, const Tensor& t) {
  if (!t.defined()) throw ShapeError(fmt::format("{}: the tensor is undefined", op));
  if (!t.is_floating()) {
    throw DTypeError(fmt::format("{}: needs f32 or f64, t is {}", op, name(t.dtype())));
  }
}

const Tensor& put(const Tensor& t, const Tensor& values) {
  const NoGrad scope;
  return t.copy_(values);
}

// A weight of no elements has no fan to divide by, and nothing to fill.
double fan_scale(double x, int64_t fan) {
  return fan > 0 ? std::sqrt(x / static_cast<double>(fan)) : 0;
}

double kaiming_std(const Tensor& t, const KaimingOptions& o) {
  const Fans f = fans(t);
  return gain(o.nonlinearity, o.a) * fan_scale(1, o.mode == Fan::in ? f.in : f.out);
}

double phi(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// The x with phi(x) = p, relative error 1e-16 for 0 < p < 1. Wichura 1988, AS 241 (PPND16):
// rational functions of q = p - 1/2 in the middle and of sqrt(-log p) in the tails.
double inverse_phi(double p) {
  const auto ratio = [](const double(&a)[8], const double(&b)[8], double r) {
    double x = a[7], y = b[7];
    for (int i = 6; i >= 0; --i) {
      x = x * r + a[i];
      y = y * r + b[i];
    }
    return x / y;
  };
  static constexpr double kA[8] = {3.3871328727963666080e+0, 1.3314166789178437745e+2,
                                   1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                   4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                   3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double kB[8] = {1.0,
                                   4.2313330701600911252e+1,
                                   6.8718700749205790830e+2,
                                   5.3941960214247511077e+3,
                                   2.1213794301586595867e+4,
                                   3.9307895800092710610e+4,
                                   2.8729085735721942674e+4,
                                   5.2264952788528545610e+3};
  static constexpr double kC[8] = {1.42343711074968357734e+0, 4.63033784615654529590e+0,
                                   5.76949722146069140550e+0, 3.64784832476320460504e+0,
                                   1.27045825245236838258e+0, 2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kD[8] = {1.0,
                                   2.05319162663775882187e+0,
                                   1.67638483018380384940e+0,
                                   6.89767334985100004550e-1,
                                   1.48103976427480074590e-1,
                                   1.51986665636164571966e-2,
                                   5.47593808499534494600e-4,
                                   1.05075007164441684324e-9};
  static constexpr double kE[8] = {6.65790464350110377720e+0, 5.46378491116411436990e+0,
                                   1.78482653991729133580e+0, 2.96560571828504891230e-1,
                                   2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                   2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kF[8] = {1.0,
                                   5.99832206555887937690e-1,
                                   1.36929880922735805310e-1,
                                   1.48753612908506148525e-2,
                                   7.86869131145613259100e-4,
                                   1.84631831751005468180e-5,
                                   1.42151175831644588870e-7,
                                   2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) return q * ratio(kA, kB, 0.180625 - q * q);
  const double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  const double x = r <= 5 ? ratio(kC, kD, r - 1.6) : ratio(kE, kF, r - 5);
  return q < 0 ? -x : x;
}

}  // namespace

const Tensor& uniform_(const Tensor& t, double low, double high, Generator* g) {
  check_floating("uniform_", t);
  return put(t, uniform(t.shape(), low, high, t.dtype(), g));
}

const Tensor& normal_(const Tensor& t, double mean, double std, Generator* g) {
  check_floating("normal_", t);
  return put(t, normal(mean, std, t.shape(), t.dtype(), g));
}

const Tensor& constant_(const Tensor& t, double value) {
  const NoGrad scope;
  return t.fill_(value);
}

const Tensor& zeros_(const Tensor& t) { return constant_(t, 0); }
const Tensor& ones_(const Tensor& t) { return constant_(t, 1); }

const Tensor& trunc_normal_(const Tensor& t, double mean, double std, double low, double high,
                            Generator* g) {
  check_floating("trunc_normal_", t);
  if (!(std > 0) || !(low < high)) {
    throw ValueError(
        fmt::format("trunc_normal_: std = {}, low = {}, high = {}; need std > 0 and low < high",
                    std, low, high));
  }
  // In the upper half the distribution function rounds to 1: work in the mirrored lower half.
  double a = (low - mean) / std, b = (high - mean) / std;
  const bool mirrored = a > 0;
  if (mirrored) a = -std::exchange(b, -a);
  const double from = phi(a), mass = phi(b) - from;
  if (!(mass > 0)) {
    throw ValueError(fmt::format("trunc_normal_: [{}, {}] has no probability under mean {}, std {}",
                                 low, high, mean, std));
  }
  const Tensor u = rand(t.shape(), f64, g);
  double* x = u.data<double>();
  for (int64_t i = 0; i < u.numel(); ++i) {
    const double p = from + mass * x[i];
    const double z = p > 0 ? inverse_phi(p) : a;
    x[i] = std::clamp(mean + std * (mirrored ? -z : z), low, high);
  }
  return put(t, u);
}

Fans fans(const Tensor& weight) {
  check_floating("fans", weight);
  if (weight.dim() < 2) {
    throw ShapeError(
        fmt::format("fans: weight is {}; fan-in and fan-out need at least two axes (out, in, ...)",
                    weight.shape().str()));
  }
  int64_t kernel = 1;
  for (int d = 2; d < weight.dim(); ++d) kernel *= weight.shape()[d];
  return {weight.shape()[1] * kernel, weight.shape()[0] * kernel};
}

double gain(Nonlinearity n, double a) {
  switch (n) {
    case Nonlinearity::tanh:
      return 5.0 / 3;
    case Nonlinearity::relu:
      return std::numbers::sqrt2;
    case Nonlinearity::leaky_relu:
      return std::sqrt(2 / (1 + a * a));
    case Nonlinearity::selu:
      return 0.75;
    default:
      return 1;
  }
}

const Tensor& xavier_uniform_(const Tensor& t, double gain, Generator* g) {
  const Fans f = fans(t);
  const double bound = gain * fan_scale(6, f.in + f.out);
  return uniform_(t, -bound, bound, g);
}

const Tensor& xavier_normal_(const Tensor& t, double gain, Generator* g) {
  const Fans f = fans(t);
  return normal_(t, 0, gain * fan_scale(2, f.in + f.out), g);
}

const Tensor& kaiming_uniform_(const Tensor& t, const KaimingOptions& o, Generator* g) {
  const double bound = std::sqrt(3.0) * kaiming_std(t, o);  // of U(-b, b) the variance is b^2 / 3
  return uniform_(t, -bound, bound, g);
}

const Tensor& kaiming_normal_(const Tensor& t, const KaimingOptions& o, Generator* g) {
  return normal_(t, 0, kaiming_std(t, o), g);
}

// Gram-Schmidt on k normal vectors of length n >= k: Q of a QR whose R has a positive diagonal, and
// that one is uniformly distributed (Mezzadri 2007). Each vector is made orthogonal twice: once
// leaves an error that grows with the condition number, twice leaves rounding alone (Giraud 2005).
const Tensor& orthogonal_(const Tensor& t, double gain, Generator* g) {
  const Fans f = fans(t);
  if (t.numel() == 0) return t;
  const int64_t rows = t.shape()[0], cols = f.in;
  const int64_t k = std::min(rows, cols), n = std::max(rows, cols);
  const Tensor q = randn({k, n}, f64, g);
  double* const v = q.data<double>();
  for (int64_t i = 0; i < k; ++i) {
    double* const x = v + i * n;
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t j = 0; j < i; ++j) {
        const double* const y = v + j * n;
        double dot = 0;
        for (int64_t c = 0; c < n; ++c) dot += x[c] * y[c];
        for (int64_t c = 0; c < n; ++c) x[c] -= dot * y[c];
      }
    }
    double norm = 0;
    for (int64_t c = 0; c < n; ++c) norm += x[c] * x[c];
    norm = std::sqrt(norm);
    for (int64_t c = 0; c < n; ++c) x[c] /= norm;
  }
  const NoGrad scope;
  const Tensor scaled = mul(rows <= cols ? q : transpose(q, 0, 1), gain);
  return t.copy_(reshape(scaled, t.shape()));
}

}  // namespace fovea::init
