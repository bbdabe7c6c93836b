// Elementwise functions of two and three tensors, broadcast together, and of a tensor and a number.
#include <cmath>

#include "fovea/ops/ops.h"
#include "tests/properties/models.h"

namespace fovea::properties {
namespace {

using D2 = double (*)(double, double);

struct Binary {
  const char* name;
  Tensor (*f)(const Tensor&, const Tensor&);
  Tensor (*with_number)(const Tensor&, Scalar);
  D2 value, da, db;
  bool divides = false;      // b stays away from 0
  bool on_integers = false;  // which stay integers; else they give f32
};

double zero(double, double) { return 0; }
double one(double, double) { return 1; }
// A tie is shared.
double above(double a, double b) { return a == b ? 0.5 : double(a > b); }
double below(double a, double b) { return above(b, a); }
double radius2(double a, double b) { return a * a + b * b; }

constexpr Binary kBinary[] = {
    {"add", add, add, [](double a, double b) { return a + b; }, one, one, false, true},
    {"sub", sub, sub, [](double a, double b) { return a - b; }, one,
     [](double, double) { return -1.0; }, false, true},
    {"mul", mul, mul, [](double a, double b) { return a * b; }, [](double, double b) { return b; },
     [](double a, double) { return a; }, false, true},
    {"div", div, div, [](double a, double b) { return a / b; },
     [](double, double b) { return 1 / b; }, [](double a, double b) { return -a / (b * b); }, true},
    {"floor_divide", floor_divide, floor_divide,
     [](double a, double b) { return std::floor(a / b); }, zero, zero, true, true},
    {"remainder", remainder, nullptr,
     [](double a, double b) {
       const double r = std::fmod(a, b);
       return r != 0 && (r < 0) != (b < 0) ? r + b : r;
     },
     one, [](double a, double b) { return -std::floor(a / b); }, true, true},
    {"maximum", maximum, nullptr, [](double a, double b) { return std::fmax(a, b); }, above, below,
     false, true},
    {"minimum", minimum, nullptr, [](double a, double b) { return std::fmin(a, b); }, below, above,
     false, true},
    {"atan2", atan2, nullptr, [](double a, double b) { return std::atan2(a, b); },
     [](double a, double b) { return radius2(a, b) > 0 ? b / radius2(a, b) : 0; },
     [](double a, double b) { return radius2(a, b) > 0 ? -a / radius2(a, b) : 0; }},
};

struct Shapes {
  Shape a, b;
};
Shapes any_two() {
  const Shape whole = any_shape();
  Shapes s{broadcastable(whole), chance(3) ? broadcastable(whole) : whole};
  if (chance(2)) std::swap(s.a, s.b);
  return s;
}

Element of_two(D2 f) {
  return [f](const Values1d& v) { return f(v[0], v[1]); };
}
Element of_number(D2 f, double b) {
  return [f, b](const Values1d& v) { return f(v[0], b); };
}

Numbers divisors() { return chance(2) ? Numbers{0.4, 2.5} : Numbers{-2.5, -0.4}; }

Trial binary_trial(const Binary& r) {
  const auto [sa, sb] = any_two();
  const Function both = [f = r.f](const Tensors& x) { return f(x[0], x[1]); };
  if (chance(6)) {
    const int64_t low = r.divides && chance(2) ? 1 : -9, end = r.divides && low < 0 ? 0 : 10;
    return elementwise(both, {any_integers(sa, -9, 10), any_integers(sb, low, end)},
                       of_two(r.value))
        .gives({r.on_integers ? i64 : f32});
  }
  const Numbers n = r.divides ? divisors() : Numbers{};
  const Tensor a = any_floats(sa);
  if (r.with_number && chance(4)) {
    // A number that f32 holds exactly.
    const double b = std::ceil(4 * n.low) / 4 + static_cast<double>(draw(0, 4)) / 2;
    return elementwise([f = r.with_number, b](const Tensors& x) { return f(x[0], b); }, {a},
                       of_number(r.value, b), {of_number(r.da, b)});
  }
  return elementwise(both, {a, any_floats(sb, n)}, of_two(r.value), {of_two(r.da), of_two(r.db)});
}

double power(double a, double b) { return std::pow(a, b); }
double power_da(double a, double b) { return b == 0 ? 0 : b * std::pow(a, b - 1); }
double power_db(double a, double b) { return a == 0 ? 0 : std::pow(a, b) * std::log(a); }

Trial pow_trial() {
  if (chance(2)) {  // negative bases too where the exponent is whole
    const int64_t b = draw(-2, 4);
    const Numbers n = b < 0 ? divisors() : Numbers{};
    return elementwise([b](const Tensors& x) { return pow(x[0], b); }, {any_floats(any_shape(), n)},
                       of_number(power, static_cast<double>(b)),
                       {of_number(power_da, static_cast<double>(b))});
  }
  // Away from 0, or with exponents that leave the slope at 0 finite.
  const bool away = chance(2);
  const auto [sa, sb] = any_two();
  const Tensor a = any_floats(sa, {away ? 0.4 : 0, 2.5});
  const Tensor b = any_floats(sb, {away ? -2 : 1.0, 3});
  return elementwise([](const Tensors& x) { return pow(x[0], x[1]); }, {a, b}, of_two(power),
                     {of_two(power_da), of_two(power_db)});
}

Trial lerp_trial() {
  const auto [sa, sb] = any_two();
  const Tensor a = any_floats(sa), b = any_floats(sb);
  if (chance(2)) {
    const double w = static_cast<double>(draw(-2, 6)) / 4;
    return elementwise(
        [w](const Tensors& x) { return lerp(x[0], x[1], w); }, {a, b},
        [w](const Values1d& v) { return v[0] + w * (v[1] - v[0]); },
        {[w](const Values1d&) { return 1 - w; }, [w](const Values1d&) { return w; }});
  }
  const Tensor w = any_floats(broadcastable(chance(2) ? sa : sb));
  return elementwise(
      [](const Tensors& x) { return lerp(x[0], x[1], x[2]); }, {a, b, w},
      [](const Values1d& v) { return v[0] + v[2] * (v[1] - v[0]); },
      {[](const Values1d& v) { return 1 - v[2]; }, [](const Values1d& v) { return v[2]; },
       [](const Values1d& v) { return v[1] - v[0]; }});
}

}  // namespace

Properties binary_properties() {
  Properties all{{"pow", pow_trial}, {"lerp", lerp_trial}};
  for (const Binary& r : kBinary) {
    all.push_back({r.name, [&r] { return binary_trial(r); }});
  }
  return all;
}

}  // namespace fovea::properties
