// Comparisons and choices.             a, b, condition: broadcast together; results of comparisons:
// bool
#include <fmt/format.h>

#include <cmath>

#include "fovea/ops/elementwise.h"
#include "fovea/ops/kernels/binary.h"

namespace fovea {
namespace {

namespace k = kernels;
using detail::BinaryFn;
using detail::operand;

struct ComparisonKernel {
  BinaryFn<float, uint8_t> f32;
  BinaryFn<double, uint8_t> f64;
  BinaryFn<int64_t, uint8_t> i64;
  BinaryFn<uint8_t, uint8_t> b;
};

Tensor compared(const char* op, const Tensor& a, const Tensor& b, const ComparisonKernel& kernel) {
  switch (a.dtype()) {
    case DType::f32:
      return detail::zip(op, a, b, kernel.f32);
    case DType::f64:
      return detail::zip(op, a, b, kernel.f64);
    case DType::i64:
      return detail::zip(op, a, b, kernel.i64);
    default:
      return detail::zip(op, a, b, kernel.b);
  }
}

Tensor compare(const char* op, const Tensor& x, const Tensor& y, const ComparisonKernel& kernel) {
  const NoGrad scope;
  const auto [a, b] = detail::promoted(op, x, y);
  return unrecorded(op, compared(op, a, b, kernel), {a, b});
}

Tensor need_bool(const char* op, const char* arg, const Tensor& x) {
  detail::check_dtype(op, arg, x, boolean);
  return x;
}

}  // namespace

Tensor eq(const Tensor& a, const Tensor& b) {
  return compare("eq", a, b, {k::eq, k::eq, k::eq, k::eq});
}
Tensor ne(const Tensor& a, const Tensor& b) {
  return compare("ne", a, b, {k::ne, k::ne, k::ne, k::ne});
}
Tensor lt(const Tensor& a, const Tensor& b) {
  return compare("lt", a, b, {k::lt, k::lt, k::lt, k::lt});
}
Tensor le(const Tensor& a, const Tensor& b) {
  return compare("le", a, b, {k::le, k::le, k::le, k::le});
}
Tensor gt(const Tensor& a, const Tensor& b) {
  return compare("gt", a, b, {k::gt, k::gt, k::gt, k::gt});
}
Tensor ge(const Tensor& a, const Tensor& b) {
  return compare("ge", a, b, {k::ge, k::ge, k::ge, k::ge});
}
Tensor eq(const Tensor& a, Scalar b) { return eq(a, operand("eq", "a", a, b)); }
Tensor ne(const Tensor& a, Scalar b) { return ne(a, operand("ne", "a", a, b)); }
Tensor lt(const Tensor& a, Scalar b) { return lt(a, operand("lt", "a", a, b)); }
Tensor le(const Tensor& a, Scalar b) { return le(a, operand("le", "a", a, b)); }
Tensor gt(const Tensor& a, Scalar b) { return gt(a, operand("gt", "a", a, b)); }
Tensor ge(const Tensor& a, Scalar b) { return ge(a, operand("ge", "a", a, b)); }

Tensor isnan(const Tensor& x) {
  detail::check_defined("isnan", "x", x);
  return ne(x, x);
}

Tensor isinf(const Tensor& x) {
  const NoGrad scope;
  detail::check_defined("isinf", "x", x);
  return x.is_floating() ? eq(abs(x), std::numeric_limits<double>::infinity()) : ne(x, x);
}

Tensor isfinite(const Tensor& x) {
  detail::check_defined("isfinite", "x", x);
  return logical_not(logical_or(isnan(x), isinf(x)));
}

Tensor logical_not(const Tensor& a) {
  const Tensor p = detail::packed(need_bool("logical_not", "a", a));
  Tensor y = detail::empty_as(a);
  k::logical_not(p.data<uint8_t>(), y.data<uint8_t>(), y.numel());
  return unrecorded("logical_not", std::move(y), {a});
}

namespace {

Tensor logical(const char* op, const Tensor& a, const Tensor& b, BinaryFn<uint8_t, uint8_t> fn) {
  Tensor y = detail::zip<uint8_t, uint8_t>(op, need_bool(op, "a", a), need_bool(op, "b", b), fn);
  return unrecorded(op, std::move(y), {a, b});
}

}  // namespace

Tensor logical_and(const Tensor& a, const Tensor& b) {
  return logical("logical_and", a, b, k::logical_and);
}
Tensor logical_or(const Tensor& a, const Tensor& b) {
  return logical("logical_or", a, b, k::logical_or);
}

bool equal(const Tensor& a, const Tensor& b) {
  detail::check_defined("equal", "a", a);
  detail::check_defined("equal", "b", b);
  return a.shape() == b.shape() && a.dtype() == b.dtype() && all(eq(a, b));
}

// |a - b| <= atol + rtol |b|; infinities are close when equal, NaN never is.
bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol) {
  const NoGrad scope;
  detail::broadcast("allclose", {{"a", a}, {"b", b}});
  if (!(rtol >= 0 && atol >= 0)) {
    throw ValueError(
        fmt::format("allclose: rtol is {}, atol is {}; both must be at least 0", rtol, atol));
  }
  const Tensor x = to(a, f64);
  const Tensor y = to(b, f64);
  const Tensor near = logical_and(le(abs(x - y), abs(y) * rtol + atol), isfinite(y));
  return all(logical_or(near, eq(x, y)));
}

namespace {

Tensor choose(const Tensor& condition, const Tensor& a, const Tensor& b) {
  for (const Tensor* x : {&condition, &a, &b}) {  // columns are better read as rows
    if (!detail::wants_packing(*x)) continue;
    const auto packed = [x](const Tensor& t) { return &t == x ? detail::packed(t) : t; };
    return choose(packed(condition), packed(a), packed(b));
  }
  const Shape shape = detail::broadcast("where", {{"condition", condition}, {"a", a}, {"b", b}});
  Tensor y = Tensor::empty(shape, a.dtype());
  const Strides sc = broadcast_strides(condition.shape(), condition.strides(), shape);
  const Strides sa = broadcast_strides(a.shape(), a.strides(), shape);
  const Strides sb = broadcast_strides(b.shape(), b.strides(), shape);
  const auto rows = collapse<4>(shape, {&sc, &sa, &sb, &y.strides()});
  const auto step = [&](int k) { return rows.strides[k][rows.rank - 1]; };
  visit(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    detail::for_rows(rows, [&](const std::array<int64_t, 4>& off, int64_t begin, int64_t n) {
      k::where(condition.data<uint8_t>() + off[0] + begin * step(0), step(0),
               a.data<T>() + off[1] + begin * step(1), step(1),
               b.data<T>() + off[2] + begin * step(2), step(2), y.data<T>() + off[3] + begin, n);
    });
  });
  return y;
}

}  // namespace

// y = condition ? a : b.   ga = gy where the condition holds, gb = gy elsewhere, 0 for the other.
Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  detail::check_dtype("where", "condition", condition, boolean);
  const auto [a, b] = detail::promoted("where", x, y);
  return record("where", choose(condition, a, b), {a, b}, {save_input("condition", condition)},
                [](const Saved& s, const Tensor& gy) {
                  const Tensor none = detail::scalar(0, gy.dtype());
                  return grads(s.wants(0) ? where(s[0], gy, none) : Tensor(),
                               s.wants(1) ? where(s[0], none, gy) : Tensor());
                });
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, Scalar value) {
  detail::check_defined("masked_fill", "x", x);
  detail::check_dtype("masked_fill", "mask", mask, boolean);
  detail::broadcast("masked_fill", {{"x", x}, {"mask", mask}});
  detail::check_value("masked_fill", value, x.dtype());
  return where(mask, detail::scalar(value, x.dtype()), x);
}

// y = min(max(x, low), high); gx = gy where low <= x <= high.
Tensor clamp(const Tensor& x, Scalar low, Scalar high) {
  const Tensor lo = operand("clamp", "x", x, low);
  const Tensor hi = operand("clamp", "x", x, high);
  if (!(low.as<double>() <= high.as<double>())) {
    throw ValueError(fmt::format("clamp: low is {}, high is {}; need low <= high", low.as<double>(),
                                 high.as<double>()));
  }
  const Tensor at_least = maximum(x.detach(), lo);
  return record("clamp", minimum(at_least, hi), {x}, {save_input("x", x)},
                [low, high](const Saved& s, const Tensor& gy) {
                  const Tensor inside = logical_and(ge(s[0], low), le(s[0], high));
                  return masked_fill(gy, logical_not(inside), 0);
                });
}

}  // namespace fovea
