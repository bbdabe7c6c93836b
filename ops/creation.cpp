// Tensors from nothing but a shape and a rule. None of them requires a gradient.
#include <fmt/format.h>

#include <cmath>

#include "fovea/ops/internal.h"

namespace fovea {
namespace {

constexpr int64_t kFillGrain = 32768;

// y_i = f(i) in row-major order.
template <class T, class F>
void generate(const Tensor& y, const F& f) {
  T* p = y.data<T>();
  parallel_for(y.numel(), kFillGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) p[i] = static_cast<T>(f(i));
  });
}

void wrong_range(const std::string& start, const std::string& end, const std::string& step) {
  throw ValueError(
      fmt::format("arange: start is {}, end is {}, step is {}; all must be finite, and step must "
                  "lead from start to end",
                  start, end, step));
}

// 128 bits, since end - start may exceed 64.
Tensor integer_range(int64_t start, int64_t end, int64_t step) {
  __extension__ using Wide = __int128;
  const Wide span = static_cast<Wide>(end) - start;
  if (step == 0 || (span != 0 && (span > 0) != (step > 0))) {
    wrong_range(std::to_string(start), std::to_string(end), std::to_string(step));
  }
  const Wide n = (span + step - (step > 0 ? 1 : -1)) / step;
  const auto count = n > (Wide{1} << 60) ? int64_t{1} << 60 : static_cast<int64_t>(n);
  Shape({count}).numel("arange");
  Tensor y = Tensor::empty({count}, i64);
  // Unsigned, since i * step alone may leave 64 bits; the sum never does.
  const auto from = static_cast<uint64_t>(start);
  const auto by = static_cast<uint64_t>(step);
  generate<int64_t>(y, [=](int64_t i) { return from + static_cast<uint64_t>(i) * by; });
  return y;
}

Tensor float_range(double start, double end, double step) {
  const double n = std::ceil((end - start) / step);
  if (!std::isfinite(start) || !std::isfinite(end) || !std::isfinite(step) ||
      !(n >= 0 && n < HUGE_VAL)) {
    wrong_range(fmt::to_string(start), fmt::to_string(end), fmt::to_string(step));
  }
  const Shape shape{n > 0x1p60 ? int64_t{1} << 60 : static_cast<int64_t>(n)};
  shape.numel("arange");
  Tensor y = Tensor::empty(shape, f32);
  generate<float>(y, [=](int64_t i) { return start + static_cast<double>(i) * step; });
  return y;
}

}  // namespace

namespace {

Tensor filled(const char* op, const Shape& shape, Scalar value, DType dtype) {
  shape.numel(op);
  detail::check_value(op, value, dtype);
  Tensor y = Tensor::empty(shape, dtype);
  detail::fill_with(y, value);
  return y;
}

Tensor filled_like(const char* op, const Tensor& x, Scalar value) {
  detail::check_defined(op, "x", x);
  return filled(op, x.shape(), value, x.dtype());
}

}  // namespace

Tensor full(const Shape& shape, Scalar value, DType dtype) {
  return filled("full", shape, value, dtype);
}
Tensor zeros(const Shape& shape, DType dtype) { return filled("zeros", shape, 0, dtype); }
Tensor ones(const Shape& shape, DType dtype) { return filled("ones", shape, 1, dtype); }
Tensor full_like(const Tensor& x, Scalar value) { return filled_like("full_like", x, value); }
Tensor zeros_like(const Tensor& x) { return filled_like("zeros_like", x, 0); }
Tensor ones_like(const Tensor& x) { return filled_like("ones_like", x, 1); }
Tensor empty_like(const Tensor& x) {
  detail::check_defined("empty_like", "x", x);
  return detail::empty_as(x);
}

Tensor eye(int64_t n, DType dtype) {
  if (n < 0) throw ShapeError(fmt::format("eye: n is {}; it must be at least 0", n));
  Shape({n, n}).numel("eye");
  Tensor y = zeros({n, n}, dtype);
  detail::fill_with(y.alias({n}, {n + 1}), 1);
  return y;
}

Tensor arange(Scalar end) { return arange(0, end, 1); }

Tensor arange(Scalar start, Scalar end, Scalar step) {
  const auto floating = [](const Scalar& s) { return s.kind == Scalar::Kind::floating; };
  if (floating(start) || floating(end) || floating(step)) {
    return float_range(start.real, end.real, step.real);
  }
  return integer_range(start.integer, end.integer, step.integer);
}

Tensor linspace(double start, double end, int64_t steps, DType dtype) {
  if (!is_floating(dtype)) {
    throw DTypeError(fmt::format("linspace: dtype is {}; floats are needed", name(dtype)));
  }
  if (!std::isfinite(start) || !std::isfinite(end) || !std::isfinite(end - start)) {
    throw ValueError(fmt::format(
        "linspace: start is {}, end is {}; both and their difference must be finite", start, end));
  }
  if (steps < 0) {
    throw ShapeError(fmt::format("linspace: steps is {}; at least 0 are needed", steps));
  }
  Shape({steps}).numel("linspace");
  Tensor y = Tensor::empty({steps}, dtype);
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  // Counted from the nearer end, so that both ends are exact.
  const auto at = [=](int64_t i) {
    return 2 * i < steps ? start + step * static_cast<double>(i)
                         : end - step * static_cast<double>(steps - 1 - i);
  };
  visit_floating(dtype, [&](auto zero) { generate<decltype(zero)>(y, at); });
  return y;
}

}  // namespace fovea
