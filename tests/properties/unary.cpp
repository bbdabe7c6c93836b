// Elementwise functions of one tensor.
#include <cmath>

#include "fovea/ops/ops.h"
#include "tests/properties/models.h"

namespace fovea::properties {
namespace {

using D1 = double (*)(double);

struct Unary {
  const char* name;
  Tensor (*f)(const Tensor&);
  D1 value, slope;
  double low = -2, high = 2;
  bool on_integers = false;  // which stay integers
};

constexpr double kPi = 3.14159265358979323846;

double flat(double) { return 0; }
double sign_of(double x) { return (x > 0) - (x < 0); }
double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * kPi); }
double normal_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
double inner_of(double x) { return std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x); }
double softplus_of(double x) { return std::log1p(std::exp(x)); }

constexpr Unary kUnary[] = {
    {"neg", neg, [](double x) { return -x; }, [](double) { return -1.0; }, -2, 2, true},
    {"abs", abs, [](double x) { return std::fabs(x); }, sign_of, -2, 2, true},
    {"sign", sign, sign_of, flat, -2, 2, true},
    {"square", square, [](double x) { return x * x; }, [](double x) { return 2 * x; }, -2, 2, true},
    {"reciprocal", reciprocal, [](double x) { return 1 / x; },
     [](double x) { return -1 / (x * x); }, 0.3, 3},
    {"sqrt", sqrt, [](double x) { return std::sqrt(x); },
     [](double x) { return x > 0 ? 0.5 / std::sqrt(x) : 0.0; }, 0, 3},
    {"rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); },
     [](double x) { return -0.5 / (x * std::sqrt(x)); }, 0.3, 3},
    {"exp", exp, [](double x) { return std::exp(x); }, [](double x) { return std::exp(x); }},
    {"exp2", exp2, [](double x) { return std::exp2(x); },
     [](double x) { return std::log(2.0) * std::exp2(x); }},
    {"expm1", expm1, [](double x) { return std::expm1(x); }, [](double x) { return std::exp(x); }},
    {"log", log, [](double x) { return std::log(x); }, [](double x) { return 1 / x; }, 0.2, 3},
    {"log2", log2, [](double x) { return std::log2(x); },
     [](double x) { return 1 / (x * std::log(2.0)); }, 0.2, 3},
    {"log10", log10, [](double x) { return std::log10(x); },
     [](double x) { return 1 / (x * std::log(10.0)); }, 0.2, 3},
    {"log1p", log1p, [](double x) { return std::log1p(x); }, [](double x) { return 1 / (1 + x); },
     -0.8, 2},
    {"sin", sin, [](double x) { return std::sin(x); }, [](double x) { return std::cos(x); }, -4, 4},
    {"cos", cos, [](double x) { return std::cos(x); }, [](double x) { return -std::sin(x); }, -4,
     4},
    {"erf", erf, [](double x) { return std::erf(x); },
     [](double x) { return 2 / std::sqrt(kPi) * std::exp(-x * x); }, -3, 3},
    {"floor", floor, [](double x) { return std::floor(x); }, flat, -3, 3, true},
    {"ceil", ceil, [](double x) { return std::ceil(x); }, flat, -3, 3, true},
    {"round", round, [](double x) { return std::nearbyint(x); }, flat, -3, 3, true},
    {"trunc", trunc, [](double x) { return std::trunc(x); }, flat, -3, 3, true},
    {"relu", relu, [](double x) { return x > 0 ? x : 0.0; },
     [](double x) { return x > 0 ? 1.0 : 0.0; }},
    {"tanh", tanh, [](double x) { return std::tanh(x); },
     [](double x) { return 1 - std::tanh(x) * std::tanh(x); }, -3, 3},
    {"sigmoid", sigmoid, sigmoid_of, [](double x) { return sigmoid_of(x) * sigmoid_of(-x); }, -4,
     4},
    {"log_sigmoid", log_sigmoid, [](double x) { return -softplus_of(-x); },
     [](double x) { return sigmoid_of(-x); }, -4, 4},
    {"gelu", gelu, [](double x) { return x * normal_below(x); },
     [](double x) { return normal_below(x) + x * normal_density(x); }, -3, 3},
    {"gelu_tanh", gelu_tanh, [](double x) { return x / 2 * (1 + std::tanh(inner_of(x))); },
     [](double x) {
       const double t = std::tanh(inner_of(x));
       const double du = std::sqrt(2 / kPi) * (1 + 3 * 0.044715 * x * x);
       return (1 + t) / 2 + x / 2 * (1 - t * t) * du;
     },
     -3, 3},
    {"silu", silu, [](double x) { return x * sigmoid_of(x); },
     [](double x) { return sigmoid_of(x) * (1 + x * sigmoid_of(-x)); }, -4, 4},
    {"softplus", softplus, softplus_of, sigmoid_of, -4, 4},
    {"mish", mish, [](double x) { return x * std::tanh(softplus_of(x)); },
     [](double x) {
       const double t = std::tanh(softplus_of(x));
       return t + x * (1 - t * t) * sigmoid_of(x);
     },
     -4, 4},
};

Trial of_one(const std::function<Tensor(const Tensor&)>& f, const Tensor& x,
             const std::function<double(double)>& value,
             const std::function<double(double)>& slope) {
  return elementwise([f](const Tensors& in) { return f(in[0]); }, {x},
                     [value](const Values1d& v) { return value(v[0]); },
                     {[slope](const Values1d& v) { return slope(v[0]); }});
}

Tensor any_input(double low = -3, double high = 3) { return any_floats(any_shape(), {low, high}); }

Trial unary_trial(const Unary& u) {
  if (u.on_integers && chance(6)) {
    return of_one(u.f, any_integers(any_shape(), -9, 10), u.value, u.slope);
  }
  return of_one(u.f, any_input(u.low, u.high), u.value, u.slope);
}

// A parameter that f32 holds exactly.
double parameter(int64_t low, int64_t high) { return static_cast<double>(draw(low, high)) / 4; }

Trial elu_trial() {
  const double a = parameter(0, 8);
  return of_one([a](const Tensor& x) { return elu(x, a); }, any_input(),
                [a](double x) { return x > 0 ? x : a * std::expm1(x); },
                [a](double x) { return x > 0 ? 1 : a * std::exp(x); });
}

Trial leaky_relu_trial() {
  const double slope = parameter(-2, 8);
  return of_one([slope](const Tensor& x) { return leaky_relu(x, slope); }, any_input(),
                [slope](double x) { return x > 0 ? x : slope * x; },
                [slope](double x) { return x > 0 ? 1 : slope; });
}

Trial hardtanh_trial() {
  const double low = parameter(-8, 4), high = low + parameter(0, 8);
  return of_one([=](const Tensor& x) { return hardtanh(x, low, high); }, any_input(),
                [=](double x) { return std::fmin(std::fmax(x, low), high); },
                [=](double x) { return x > low && x < high ? 1.0 : 0.0; });
}

Trial clamp_trial() {
  if (chance(6)) {
    const int64_t low = draw(-5, 2), high = low + draw(0, 5);
    return of_one([=](const Tensor& x) { return clamp(x, low, high); },
                  any_integers(any_shape(), -9, 10),
                  [=](double x) { return std::fmin(std::fmax(x, double(low)), double(high)); }, {});
  }
  const double low = parameter(-8, 4), high = low + parameter(0, 8);
  return of_one([=](const Tensor& x) { return clamp(x, low, high); }, any_input(),
                [=](double x) { return std::fmin(std::fmax(x, low), high); },
                [=](double x) { return x >= low && x <= high ? 1.0 : 0.0; });
}

}  // namespace

Properties unary_properties() {
  Properties all{{"elu", elu_trial},
                 {"leaky_relu", leaky_relu_trial},
                 {"hardtanh", hardtanh_trial},
                 {"clamp", clamp_trial}};
  for (const Unary& u : kUnary) {
    all.push_back({u.name, [&u] { return unary_trial(u); }});
  }
  return all;
}

}  // namespace fovea::properties
