// Activations.                                               x, y, gy, gx: any one shape
// Each has its rule twice: as a formula in ops, and as one pass over memory.
#include "fovea/ops/elementwise.h"
#include "fovea/ops/kernels/unary.h"
#include "fovea/ops/kernels/unary_backward.h"

namespace fovea {
namespace {
namespace k = kernels;
}

// y = max(x, 0); gx = gy where y > 0. A choice, not a product: what is off lets nothing through,
// NaN included.
Tensor relu(const Tensor& x) {
  static constexpr auto rule = [](const Tensor& y, const Tensor& gy) {
    return masked_fill(gy, logical_not(y > 0), 0);
  };
  return detail::unary(
      {"relu", {k::relu, k::relu}, true, rule, {k::relu_backward, k::relu_backward}}, x);
}

// d tanh(x) = 1 - y^2
Tensor tanh(const Tensor& x) {
  static constexpr auto rule = [](const Tensor& y, const Tensor& gy) { return gy * (1 - y * y); };
  return detail::unary(
      {"tanh", {k::tanh, k::tanh}, true, rule, {k::tanh_backward, k::tanh_backward}}, x);
}

// y = 1 / (1 + exp(-x)); dy = y (1 - y)
Tensor sigmoid(const Tensor& x) {
  static constexpr auto rule = [](const Tensor& y, const Tensor& gy) { return gy * y * (1 - y); };
  return detail::unary(
      {"sigmoid", {k::sigmoid, k::sigmoid}, true, rule, {k::sigmoid_backward, k::sigmoid_backward}},
      x);
}

// d log(sigmoid(x)) = sigmoid(-x)
Tensor log_sigmoid(const Tensor& x) {
  static constexpr auto rule = [](const Tensor& s, const Tensor& gy) {
    return gy * sigmoid(neg(s));
  };
  return detail::unary({"log_sigmoid",
                        {k::log_sigmoid, k::log_sigmoid},
                        false,
                        rule,
                        {k::log_sigmoid_backward, k::log_sigmoid_backward}},
                       x);
}

// y = x Phi(x), Phi(x) = (1 + erf(x / sqrt 2)) / 2; dy = Phi(x) + x phi(x), phi the normal density
Tensor gelu(const Tensor& x) {
  static constexpr auto rule = [](const Tensor& in, const Tensor& gy) {
    const Tensor s = detail::cut(in);
    const Tensor Phi = (erf(s * M_SQRT1_2) + 1) * 0.5;
    const Tensor phi = exp(square(s) * -0.5) * (M_SQRT1_2 * M_2_SQRTPI / 2);
    return gy * (Phi + s * phi);
  };
  return detail::unary(
      {"gelu", {k::gelu, k::gelu}, false, rule, {k::gelu_backward, k::gelu_backward}}, x);
}

// y = x (1 + tanh u) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3)
// dy = (1 + tanh u) / 2 + x (1 - tanh^2 u) / 2 u',   u' = sqrt(2 / pi) (1 + 3 * 0.044715 x^2)
Tensor gelu_tanh(const Tensor& x) {
  static constexpr auto rule = [](const Tensor& in, const Tensor& gy) {
    constexpr double c = M_SQRT1_2 * M_2_SQRTPI;  // sqrt(2 / pi)
    const Tensor s = detail::cut(in);
    const Tensor s2 = square(s);
    const Tensor t = tanh((s + s * s2 * 0.044715) * c);
    return gy * ((t + 1) * 0.5 + s * (1 - t * t) * 0.5 * ((s2 * (3 * 0.044715) + 1) * c));
  };
  return detail::unary({"gelu_tanh",
                        {k::gelu_tanh, k::gelu_tanh},
                        false,
                        rule,
                        {k::gelu_tanh_backward, k::gelu_tanh_backward}},
                       x);
}

// y = x sigmoid(x); dy = s (1 + x (1 - s)), s = sigmoid(x)
Tensor silu(const Tensor& x) {
  static constexpr auto rule = [](const Tensor& kept, const Tensor& gy) {
    const Tensor in = detail::cut(kept);
    const Tensor s = sigmoid(in);
    return gy * (s * (in * (1 - s) + 1));
  };
  return detail::unary(
      {"silu", {k::silu, k::silu}, false, rule, {k::silu_backward, k::silu_backward}}, x);
}

// y = log(1 + exp(x)); dy = sigmoid(x)
Tensor softplus(const Tensor& x) {
  static constexpr auto rule = [](const Tensor& s, const Tensor& gy) { return gy * sigmoid(s); };
  return detail::unary({"softplus",
                        {k::softplus, k::softplus},
                        false,
                        rule,
                        {k::softplus_backward, k::softplus_backward}},
                       x);
}

}  // namespace fovea
