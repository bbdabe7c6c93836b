// Comparisons, tests of single elements, and choices by a condition.
#include <cmath>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"
#include "tests/properties/models.h"

namespace fovea::properties {
namespace {

// Few values, so that many are equal; floats hold NaN and infinities as well.
Tensor any_operand(const Shape& shape, DType dtype) {
  if (dtype == boolean) return any_bools(shape);
  if (dtype == i64) return any_integers(shape, -2, 3);
  const Tensor x = any_tensor(shape, {-2, 2, {0, 1, kNan, kInf, -kInf}}, dtype);
  return chance(2) ? x.detach() : x;
}

struct Comparison {
  const char* name;
  Tensor (*f)(const Tensor&, const Tensor&);
  Tensor (*with_number)(const Tensor&, Scalar);
  bool (*holds)(double, double);
};
constexpr Comparison kComparisons[] = {
    {"eq", eq, eq, [](double a, double b) { return a == b; }},
    {"ne", ne, ne, [](double a, double b) { return a != b; }},
    {"lt", lt, lt, [](double a, double b) { return a < b; }},
    {"le", le, le, [](double a, double b) { return a <= b; }},
    {"gt", gt, gt, [](double a, double b) { return a > b; }},
    {"ge", ge, ge, [](double a, double b) { return a >= b; }},
};

Trial comparison_trial(const Comparison& c) {
  const Shape whole = any_shape();
  const Tensor a = any_operand(broadcastable(whole), any_dtype());
  if (chance(4)) {
    const double b = static_cast<double>(draw(-2, 2)) / 2;
    return elementwise([f = c.with_number, b](const Tensors& x) { return f(x[0], b); }, {a},
                       [h = c.holds, b](const Values1d& v) { return double(h(v[0], b)); })
        .gives({boolean});
  }
  Tensor b = any_operand(whole, any_dtype());
  const bool turned = chance(2);
  return elementwise([f = c.f](const Tensors& x) { return f(x[0], x[1]); },
                     turned ? Tensors{b, a} : Tensors{a, b},
                     [h = c.holds](const Values1d& v) { return double(h(v[0], v[1])); })
      .gives({boolean});
}

Trial test_trial(Tensor (*f)(const Tensor&), bool (*holds)(double)) {
  return elementwise([f](const Tensors& x) { return f(x[0]); },
                     {any_operand(any_shape(), any_dtype())},
                     [holds](const Values1d& v) { return double(holds(v[0])); })
      .gives({boolean});
}

Trial logical_trial(Tensor (*f)(const Tensor&, const Tensor&), bool (*holds)(bool, bool)) {
  const Shape whole = any_shape();
  Shape a = whole, b = broadcastable(whole);
  if (chance(2)) std::swap(a, b);
  return elementwise([f](const Tensors& x) { return f(x[0], x[1]); }, {any_bools(a), any_bools(b)},
                     [holds](const Values1d& v) { return double(holds(v[0] != 0, v[1] != 0)); });
}

Trial logical_not_trial() {
  return elementwise([](const Tensors& x) { return logical_not(x[0]); }, {any_bools(any_shape())},
                     [](const Values1d& v) { return double(v[0] == 0); });
}

// b holds the elements of a, sometimes but for one that is off by a little.
Tensor nearly(const Tensor& a, double off) {
  const Tensor b = a.detach().clone();
  if (b.numel() > 0 && chance(2)) {
    const Tensor one = b.view({b.numel()}).select(0, draw(0, b.numel() - 1));
    one.fill_(Scalar(one.item() + off));
  }
  return laid_out_again(b);
}

Tensor flag(bool b) { return full({}, b, boolean); }

Trial equal_trial() {
  const Shape shape = any_shape();
  const DType dtype = any_dtype();
  const Tensor a = any_operand(shape, dtype);
  Tensor b = nearly(a, dtype == boolean ? -1 : 1);
  if (chance(6)) b = b.unsqueeze(0);
  if (chance(6)) b = b.to(promote(dtype, f32));
  bool same = a.shape() == b.shape() && a.dtype() == b.dtype();
  const auto va = a.to_vector(), vb = b.to_vector();
  for (size_t i = 0; i < va.size(); ++i) same = same && va[i] == vb[i];
  return plain([](const Tensors& x) { return flag(equal(x[0], x[1])); }, {a, b},
               cases::scalar(same), boolean);
}

Trial allclose_trial() {
  const Tensor a = any_operand(any_shape(), any_floating());
  const double off = std::pow(10.0, static_cast<double>(draw(-6, -1)));
  const double rtol = chance(3) ? 0 : std::pow(10.0, static_cast<double>(draw(-6, -1)));
  const double atol = chance(3) ? 0 : std::pow(10.0, static_cast<double>(draw(-6, -1)));
  const Tensor b = nearly(a, 0.7 * off);
  bool close = true;
  const auto va = a.to_vector(), vb = b.to_vector();
  for (size_t i = 0; i < va.size(); ++i) {
    const bool near =
        std::isfinite(vb[i]) && std::fabs(va[i] - vb[i]) <= atol + rtol * std::fabs(vb[i]);
    close = close && (va[i] == vb[i] || near);
  }
  return plain([=](const Tensors& x) { return flag(allclose(x[0], x[1], rtol, atol)); }, {a, b},
               cases::scalar(close), boolean);
}

// What is not chosen may be anything, NaN here and there: it reaches neither result nor gradient.
Trial where_trial() {
  const Shape whole = any_shape();
  Shape shapes[] = {whole, broadcastable(whole), broadcastable(whole)};
  std::swap(shapes[0], shapes[draw(0, 2)]);
  const Tensor c = any_bools(shapes[0]);
  const Tensor a = any_floats(shapes[1], {-2, 2, {kNan}});
  const Tensor b = any_floats(shapes[2], {-2, 2, {kNan}});
  return elementwise([](const Tensors& x) { return where(x[0], x[1], x[2]); }, {c, a, b},
                     [](const Values1d& v) { return v[0] != 0 ? v[1] : v[2]; },
                     {[](const Values1d&) { return 0.0; }, [](const Values1d& v) { return v[0]; },
                      [](const Values1d& v) { return 1 - v[0]; }});
}

Trial masked_fill_trial() {
  const Shape whole = any_shape();
  const double value = chance(6) ? kInf : static_cast<double>(draw(-9, 9)) / 2;
  const bool wide = chance(4);  // the mask may make the result larger than x
  const DType dtype = any_floating();
  const Tensor x = any_tensor(wide ? broadcastable(whole) : whole, {-2, 2, {kNan}}, dtype);
  return elementwise([value](const Tensors& in) { return masked_fill(in[0], in[1], value); },
                     {x, any_bools(wide ? whole : broadcastable(whole))},
                     [value](const Values1d& v) { return v[1] != 0 ? value : v[0]; },
                     {[](const Values1d& v) { return 1 - v[1]; }})
      .gives({dtype});
}

}  // namespace

Properties comparison_properties() {
  Properties all{
      {"isnan", [] { return test_trial(isnan, [](double x) { return std::isnan(x); }); }},
      {"isinf", [] { return test_trial(isinf, [](double x) { return std::isinf(x); }); }},
      {"isfinite", [] { return test_trial(isfinite, [](double x) { return std::isfinite(x); }); }},
      {"logical_not", logical_not_trial},
      {"logical_and",
       [] { return logical_trial(logical_and, [](bool a, bool b) { return a && b; }); }},
      {"logical_or",
       [] { return logical_trial(logical_or, [](bool a, bool b) { return a || b; }); }},
      {"equal", equal_trial},
      {"allclose", allclose_trial},
      {"where", where_trial},
      {"masked_fill", masked_fill_trial}};
  for (const Comparison& c : kComparisons) {
    all.push_back({c.name, [&c] { return comparison_trial(c); }});
  }
  return all;
}

}  // namespace fovea::properties
