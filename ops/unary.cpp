// Elementwise functions of one tensor.                       x, y, gy, gx: any one shape
// forward   y = f(x)
// backward  gx = gy f'(x), written below with what is cheapest to keep: s is y or x
#include "fovea/ops/kernels/unary.h"

#include "fovea/ops/elementwise.h"
#include "fovea/ops/kernels/unary_backward.h"

namespace fovea {
namespace {

namespace k = kernels;
using detail::UnaryKernel;
using detail::UnaryRule;

// A function whose rule is a formula alone; saves x.
template <class F>
Tensor primitive(const char* name, const Tensor& in, const UnaryKernel& kernel, F rule) {
  detail::check_defined(name, "x", in);
  const Tensor x = detail::as_floating(in);
  return record(name, detail::map(x, kernel), {x}, {save_input("x", x)},
                [rule](const Saved& s, const Tensor& gy) { return rule(s[0], gy); });
}

// The same where the derivative is cheaper by what came out; saves y.
template <class F>
Tensor primitive_of_output(const char* name, const Tensor& in, const UnaryKernel& kernel, F rule) {
  detail::check_defined(name, "x", in);
  const Tensor x = detail::as_floating(in);
  Tensor y = detail::map(x, kernel);
  return record(name, y, {x}, {save_output(y)},
                [rule](const Saved& s, const Tensor& gy) { return rule(s[0], gy); });
}

// Integers keep their dtype in neg, abs, sign and square; a bool counts as 0 or 1.
Tensor on_integers(const char* name, const Tensor& in,
                   void (*fn)(const int64_t*, int64_t*, int64_t)) {
  const Tensor x = detail::packed(to(in, i64));
  Tensor y = detail::empty_as(x);
  fn(x.data<int64_t>(), y.data<int64_t>(), x.numel());
  return unrecorded(name, std::move(y), {x});
}

// A step function: its gradient is 0 wherever it has one.
Tensor flat(const char* name, const Tensor& x, const UnaryKernel& kernel) {
  detail::check_defined(name, "x", x);
  if (!x.is_floating()) return clone(x);  // integers are whole already
  return record(name, detail::map(x, kernel), {x}, {},
                [](const Saved&, const Tensor& gy) { return zeros_like(gy); });
}

}  // namespace

Tensor neg(const Tensor& x) {
  detail::check_defined("neg", "x", x);
  if (!x.is_floating()) return on_integers("neg", x, k::neg);
  return record("neg", detail::map(x, {k::neg, k::neg}), {x}, {},
                [](const Saved&, const Tensor& gy) { return neg(gy); });
}

Tensor abs(const Tensor& x) {
  detail::check_defined("abs", "x", x);
  if (!x.is_floating()) return on_integers("abs", x, k::abs);
  static constexpr auto rule = [](const Tensor& s, const Tensor& gy) { return gy * sign(s); };
  return detail::unary({"abs", {k::abs, k::abs}, false, rule, {k::abs_backward, k::abs_backward}},
                       x);
}

Tensor square(const Tensor& x) {
  detail::check_defined("square", "x", x);
  if (!x.is_floating()) return on_integers("square", x, k::square);
  return primitive("square", x, {k::square, k::square},
                   [](const Tensor& s, const Tensor& gy) { return gy * s * 2; });
}

Tensor sign(const Tensor& x) {
  detail::check_defined("sign", "x", x);
  return x.is_floating() ? flat("sign", x, {k::sign, k::sign}) : on_integers("sign", x, k::sign);
}

Tensor floor(const Tensor& x) { return flat("floor", x, {k::floor, k::floor}); }
Tensor ceil(const Tensor& x) { return flat("ceil", x, {k::ceil, k::ceil}); }
Tensor round(const Tensor& x) { return flat("round", x, {k::round, k::round}); }
Tensor trunc(const Tensor& x) { return flat("trunc", x, {k::trunc, k::trunc}); }

Tensor reciprocal(const Tensor& x) {  // d(1/x) = -1/x^2
  return primitive("reciprocal", x, {k::reciprocal, k::reciprocal},
                   [](const Tensor& s, const Tensor& gy) { return neg(gy / square(s)); });
}

// d sqrt(x) = 1 / (2 sqrt(x)); at 0 the true gradient is infinite, and 0 is what keeps sums finite.
Tensor sqrt(const Tensor& x) {
  static constexpr auto rule = [](const Tensor& y, const Tensor& gy) {
    const Tensor at_zero = y == 0;
    return masked_fill(gy / masked_fill(y * 2, at_zero, 1), at_zero, 0);
  };
  return detail::unary(
      {"sqrt", {k::sqrt, k::sqrt}, true, rule, {k::sqrt_backward, k::sqrt_backward}}, x);
}

Tensor rsqrt(const Tensor& x) {  // d x^(-1/2) = -1/2 y^3
  static constexpr auto rule = [](const Tensor& y, const Tensor& gy) {
    return gy * (y * y * y) * -0.5;
  };
  return detail::unary(
      {"rsqrt", {k::rsqrt, k::rsqrt}, true, rule, {k::rsqrt_backward, k::rsqrt_backward}}, x);
}

Tensor exp(const Tensor& x) {  // d exp(x) = y
  return primitive_of_output("exp", x, {k::exp, k::exp},
                             [](const Tensor& y, const Tensor& gy) { return gy * y; });
}

Tensor exp2(const Tensor& x) {  // d 2^x = ln 2 y
  return primitive_of_output("exp2", x, {k::exp2, k::exp2}, [](const Tensor& y, const Tensor& gy) {
    return gy * y * std::log(2.0);
  });
}

Tensor expm1(const Tensor& x) {  // d (exp(x) - 1) = exp(x)
  return primitive("expm1", x, {k::expm1, k::expm1},
                   [](const Tensor& s, const Tensor& gy) { return gy * exp(s); });
}

Tensor log(const Tensor& x) {  // d log(x) = 1 / x
  return primitive("log", x, {k::log, k::log},
                   [](const Tensor& s, const Tensor& gy) { return gy / s; });
}

Tensor log2(const Tensor& x) {
  return primitive("log2", x, {k::log2, k::log2},
                   [](const Tensor& s, const Tensor& gy) { return gy / (s * std::log(2.0)); });
}

Tensor log10(const Tensor& x) {
  return primitive("log10", x, {k::log10, k::log10},
                   [](const Tensor& s, const Tensor& gy) { return gy / (s * std::log(10.0)); });
}

Tensor log1p(const Tensor& x) {  // d log(1 + x) = 1 / (1 + x)
  return primitive("log1p", x, {k::log1p, k::log1p},
                   [](const Tensor& s, const Tensor& gy) { return gy / (s + 1); });
}

Tensor sin(const Tensor& x) {
  return primitive("sin", x, {k::sin, k::sin},
                   [](const Tensor& s, const Tensor& gy) { return gy * cos(s); });
}

Tensor cos(const Tensor& x) {
  return primitive("cos", x, {k::cos, k::cos},
                   [](const Tensor& s, const Tensor& gy) { return neg(gy * sin(s)); });
}

Tensor erf(const Tensor& x) {  // d erf(x) = 2 / sqrt(pi) exp(-x^2)
  static constexpr auto rule = [](const Tensor& s, const Tensor& gy) {
    return gy * exp(neg(square(detail::cut(s)))) * (2 / std::sqrt(M_PI));
  };
  return detail::unary({"erf", {k::erf, k::erf}, false, rule, {k::erf_backward, k::erf_backward}},
                       x);
}

}  // namespace fovea
