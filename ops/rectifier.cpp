// Rectifiers with a parameter, and mish.                     x, y, gy, gx: any one shape
#include <fmt/format.h>

#include <cmath>

#include "fovea/ops/elementwise.h"
#include "fovea/ops/kernels/unary.h"
#include "fovea/ops/kernels/unary_backward.h"

namespace fovea {
namespace {
namespace k = kernels;

void check_finite(const char* op, const char* arg, double value) {
  if (std::isfinite(value)) return;
  throw ValueError(fmt::format("{}: {} is {}; it must be finite", op, arg, value));
}

}  // namespace

// y = x tanh(softplus(x)); dy = t + x (1 - t^2) sigmoid(x), t = tanh(softplus(x)). Misra 2019
Tensor mish(const Tensor& x) {
  static constexpr auto rule = [](const Tensor& in, const Tensor& gy) {
    const Tensor s = detail::cut(in);
    const Tensor t = tanh(softplus(s));
    return gy * (t + s * (1 - t * t) * sigmoid(s));
  };
  return detail::unary(
      {"mish", {k::mish, k::mish}, false, rule, {k::mish_backward, k::mish_backward}}, x);
}

// y = x above 0, alpha (exp(x) - 1) below. What is not chosen is kept out of the exponential.
Tensor elu(const Tensor& in, double alpha) {
  detail::check_defined("elu", "x", in);
  check_finite("elu", "alpha", alpha);
  const Tensor x = detail::as_floating(in);
  if (alpha != 1) {
    const Tensor above = x > 0;
    return where(above, x, expm1(masked_fill(x, above, 0)) * alpha);
  }
  static constexpr auto rule = [](const Tensor& s, const Tensor& gy) {
    const Tensor above = s > 0;
    return where(above, gy, gy * exp(masked_fill(s, above, 0)));
  };
  return detail::unary({"elu", {k::elu, k::elu}, false, rule, {k::elu_backward, k::elu_backward}},
                       x);
}

Tensor leaky_relu(const Tensor& x, double slope) {
  detail::check_floating("leaky_relu", "x", x);
  check_finite("leaky_relu", "slope", slope);
  return where(x > 0, x, x * slope);
}

// clamp whose gradient is 0 at the borders, as PyTorch's.
Tensor hardtanh(const Tensor& x, double low, double high) {
  detail::check_floating("hardtanh", "x", x);
  if (!(low <= high)) {
    throw ValueError(fmt::format("hardtanh: low is {}, high is {}; need low <= high", low, high));
  }
  const Tensor inside = logical_and(x > low, x < high);
  return where(inside, x, clamp(x.detach(), low, high));
}

}  // namespace fovea
