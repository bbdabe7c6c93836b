// Elementwise arithmetic of two tensors.       a, b: broadcast together; y, gy: their common shape
// A vjp returns gradients of the common shape; the engine sums them to the shapes of a and b.
#include "fovea/ops/kernels/binary.h"

#include <fmt/format.h>

#include "fovea/ops/elementwise.h"

namespace fovea {
namespace {

namespace k = kernels;
using detail::BinaryFn;
using detail::operand;

struct BinaryKernel {
  BinaryFn<float, float> f32;
  BinaryFn<double, double> f64;
  BinaryFn<int64_t, int64_t> i64 = nullptr;  // null: integers are converted to f32
};

Tensor arithmetic(const char* op, const Tensor& a, const Tensor& b, const BinaryKernel& kernel) {
  switch (a.dtype()) {
    case DType::f32:
      return detail::zip(op, a, b, kernel.f32);
    case DType::f64:
      return detail::zip(op, a, b, kernel.f64);
    default:
      return detail::zip(op, a, b, kernel.i64);
  }
}

// Calls f on both operands in one dtype that the kernel has: bool counts as 0 or 1, and integers
// become f32 where only floats make sense.
template <class F>
Tensor on_operands(const char* op, const Tensor& a, const Tensor& b, bool on_integers, const F& f) {
  if (a.defined() && b.defined() && a.dtype() == b.dtype() && a.is_floating()) return f(a, b);
  const detail::Promoted p = detail::promoted(op, a, b);
  if (p.a.is_floating() || (p.a.dtype() == i64 && on_integers)) return f(p.a, p.b);
  const DType t = on_integers ? i64 : f32;
  return f(to(p.a, t), to(p.b, t));
}

}  // namespace

Tensor add(const Tensor& x, const Tensor& y) {
  return on_operands("add", x, y, true, [](const Tensor& a, const Tensor& b) {
    return record("add", arithmetic("add", a, b, {k::add, k::add, k::add}), {a, b}, {},
                  [](const Saved&, const Tensor& gy) { return grads(gy, gy); });
  });
}

Tensor sub(const Tensor& x, const Tensor& y) {
  return on_operands("sub", x, y, true, [](const Tensor& a, const Tensor& b) {
    return record("sub", arithmetic("sub", a, b, {k::sub, k::sub, k::sub}), {a, b}, {},
                  [](const Saved& s, const Tensor& gy) {
                    return grads(gy, s.wants(1) ? neg(gy) : Tensor());
                  });
  });
}

Tensor mul(const Tensor& x, const Tensor& y) {
  return on_operands("mul", x, y, true, [](const Tensor& a, const Tensor& b) {
    return record("mul", arithmetic("mul", a, b, {k::mul, k::mul, k::mul}), {a, b},
                  {save_if(b.requires_grad(), save_input("a", a)),
                   save_if(a.requires_grad(), save_input("b", b))},
                  [](const Saved& s, const Tensor& gy) {
                    return grads(s.wants(0) ? gy * s[1] : Tensor(),
                                 s.wants(1) ? gy * s[0] : Tensor());
                  });
  });
}

// d(a/b) = da / b - a / b^2 db
Tensor div(const Tensor& x, const Tensor& y) {
  return on_operands("div", x, y, false, [](const Tensor& a, const Tensor& b) {
    return record("div", arithmetic("div", a, b, {k::div, k::div}), {a, b},
                  {save_if(b.requires_grad(), save_input("a", a)), save_input("b", b)},
                  [](const Saved& s, const Tensor& gy) {
                    const Tensor ga = gy / s[1];
                    return grads(ga, s.wants(1) ? neg(ga * (s[0] / s[1])) : Tensor());
                  });
  });
}

// The larger takes the gradient; a tie gives each half, so that the parts sum to gy.
namespace {

Tensor extreme(const char* op, const Tensor& x, const Tensor& y, const BinaryKernel& kernel,
               Tensor (*wins)(const Tensor&, const Tensor&)) {
  return on_operands(op, x, y, true, [&](const Tensor& a, const Tensor& b) {
    return record(op, arithmetic(op, a, b, kernel), {a, b},
                  {save_input("a", a), save_input("b", b)},
                  [wins](const Saved& s, const Tensor& gy) {
                    const Tensor a_nan = isnan(s[0]), b_nan = isnan(s[1]);
                    const Tensor tie = logical_or(s[0] == s[1], logical_and(a_nan, b_nan));
                    const Tensor half = masked_fill(gy * 0.5, logical_not(tie), 0);
                    // NaN wins over numbers.
                    const auto share = [&](const Tensor& me, const Tensor& other,
                                           const Tensor& my_nan, const Tensor& other_nan) {
                      const Tensor mine =
                          logical_or(wins(me, other), logical_and(my_nan, logical_not(other_nan)));
                      return masked_fill(gy, logical_not(mine), 0) + half;
                    };
                    return grads(share(s[0], s[1], a_nan, b_nan), share(s[1], s[0], b_nan, a_nan));
                  });
  });
}

}  // namespace

Tensor maximum(const Tensor& a, const Tensor& b) {
  return extreme("maximum", a, b, {k::maximum, k::maximum, k::maximum}, gt);
}

Tensor minimum(const Tensor& a, const Tensor& b) {
  return extreme("minimum", a, b, {k::minimum, k::minimum, k::minimum}, lt);
}

Tensor floor_divide(const Tensor& x, const Tensor& y) {
  return on_operands("floor_divide", x, y, true, [](const Tensor& a, const Tensor& b) {
    detail::check_divisor("floor_divide", b);
    return record(
        "floor_divide",
        arithmetic("floor_divide", a, b, {k::floor_divide, k::floor_divide, k::floor_divide}),
        {a, b}, {},
        [](const Saved&, const Tensor& gy) { return grads(zeros_like(gy), zeros_like(gy)); });
  });
}

namespace {

// Wraps around, as other integer arithmetic does.
int64_t integer_power(int64_t base, int64_t exponent) {
  uint64_t y = 1;
  for (auto square = static_cast<uint64_t>(base); exponent > 0; exponent /= 2, square *= square) {
    if (exponent % 2 != 0) y *= square;
  }
  return static_cast<int64_t>(y);
}

void integer_powers(const int64_t* a, int64_t sa, const int64_t* b, int64_t sb, int64_t* y,
                    int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = integer_power(a[i * sa], b[i * sb]);
}

void check_exponent(const Tensor& b) {
  if (!any(lt(b, 0))) return;
  throw ValueError(
      fmt::format("pow: b {} of integers holds a negative exponent, whose power is no integer; "
                  "convert a to f32",
                  b.shape().str()));
}

}  // namespace

// y = a^b.   dy/da = b a^(b-1), and 0 where b = 0 whatever a is
//            dy/db = y log a, and 0 where a = 0 (b >= 0: y stays 0 or 1 to first order)
Tensor pow(const Tensor& x, const Tensor& y) {
  return on_operands("pow", x, y, true, [](const Tensor& a, const Tensor& b) {
    if (a.dtype() == i64) check_exponent(b);
    return record("pow", arithmetic("pow", a, b, {k::pow, k::pow, integer_powers}), {a, b},
                  {save_input("a", a), save_input("b", b)}, [](const Saved& s, const Tensor& gy) {
                    const Tensor& base = s[0];
                    const Tensor& e = s[1];
                    Tensor ga;
                    Tensor gb;
                    if (s.wants(0)) {  // 0^(0 - 1) would be infinite, and NaN^-1 is NaN
                      const Tensor no_slope = logical_not(abs(base) > 0);
                      const Tensor corner = logical_and(e == 0, no_slope);
                      ga = gy * e * pow(base, masked_fill(e - 1, corner, 0));
                    }
                    if (s.wants(1)) {
                      const Tensor zero = base == 0;
                      gb =
                          masked_fill(gy * pow(base, e) * log(masked_fill(base, zero, 1)), zero, 0);
                    }
                    return grads(ga, gb);
                  });
  });
}

Tensor add(const Tensor& a, Scalar b) { return add(a, operand("add", "a", a, b)); }
Tensor sub(const Tensor& a, Scalar b) { return sub(a, operand("sub", "a", a, b)); }
Tensor mul(const Tensor& a, Scalar b) { return mul(a, operand("mul", "a", a, b)); }
Tensor div(const Tensor& a, Scalar b) { return div(a, operand("div", "a", a, b)); }
Tensor floor_divide(const Tensor& a, Scalar b) {
  return floor_divide(a, operand("floor_divide", "a", a, b));
}

Tensor pow(const Tensor& a, Scalar b) {
  const Tensor exponent = operand("pow", "a", a, b);
  return b.as<double>() == 2 ? square(a) : pow(a, exponent);
}

// lerp is a composition: a + weight (b - a).
Tensor lerp(const Tensor& a, const Tensor& b, const Tensor& weight) {
  detail::broadcast("lerp", {{"a", a}, {"b", b}, {"weight", weight}});
  return a + weight * (b - a);
}

Tensor lerp(const Tensor& a, const Tensor& b, double weight) {
  detail::broadcast("lerp", {{"a", a}, {"b", b}});
  return a + (b - a) * weight;
}

}  // namespace fovea
