// log_softmax and logsumexp.                                 x, y, gy, gx: (..., N)
// forward   y_i = x_i - L,  L = log sum_j exp(x_j), computed after subtracting the maximum
// backward  log_softmax: gx = gy - exp(y) sum(gy);   logsumexp: gx = gL exp(x - L)
//           a logit of -inf has probability 0 and takes gradient 0
// saves     log_softmax: y;   logsumexp: x and L
#include <limits>

#include "fovea/ops/kernels/rows.h"
#include "fovea/ops/reduce.h"
#include "fovea/ops/rowwise.h"

namespace fovea {
namespace {

Tensor log_softmax_vjp(const Tensor& y, const Tensor& gy) {
  return masked_fill(gy - exp(y) * sum(gy, -1, keepdim), y == -detail::kInf, 0);
}

Tensor log_softmax_vjp_fused(const Tensor& y, const Tensor& gy) {
  const bool stream = kernels::worth_streaming(y.numel() * item_size(y.dtype()));
  return detail::rowwise2(
      y, gy, [stream](const auto* a, const auto* g, auto* out, int64_t rows, int64_t n) {
        kernels::log_softmax_backward_rows(a, g, out, rows, n, stream);
      });
}

Tensor log_softmax_last(const Tensor& x) {
  const bool stream = kernels::worth_streaming(x.numel() * item_size(x.dtype()));
  Tensor y = detail::rowwise(x, [stream](const auto* in, auto* out, int64_t rows, int64_t n) {
    kernels::log_softmax_rows(in, out, rows, n, stream);
  });
  return record("log_softmax", y, {x}, {save_output(y)}, [](const Saved& s, const Tensor& gy) {
    return use_formula() ? log_softmax_vjp(s[0], gy) : log_softmax_vjp_fused(s[0], gy);
  });
}

// lse, gy: (..., 1). -inf - -inf would be NaN: such logits are set apart before the exponential.
Tensor logsumexp_vjp(const Tensor& x, const Tensor& lse, const Tensor& gy) {
  return gy * exp(masked_fill(x - lse, x == -detail::kInf, -detail::kInf));
}

Tensor logsumexp_vjp_fused(const Tensor& x, const Tensor& lse, const Tensor& gy) {
  const Tensor px = detail::packed(x);
  const Tensor pg = detail::packed(gy);
  Tensor gx = detail::empty_as(x);
  const int64_t n = x.shape().back();
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(lse.numel(), grain_for(n * 4), [&](int64_t b, int64_t e) {
      kernels::logsumexp_backward_rows(px.data<T>() + b * n, lse.data<T>() + b, pg.data<T>() + b,
                                       gx.data<T>() + b * n, e - b, n);
    });
  });
  return gx;
}

// (..., N) -> (..., 1)
Tensor logsumexp_last(const Tensor& x) {
  const Tensor p = detail::packed(x);
  Shape shape = x.shape();
  const int64_t n = shape.back();
  shape[shape.rank() - 1] = 1;
  Tensor y = Tensor::empty(shape, x.dtype());
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(y.numel(), grain_for(n * 4), [&](int64_t b, int64_t e) {
      kernels::logsumexp_rows(p.data<T>() + b * n, y.data<T>() + b, e - b, n);
    });
  });
  return record("logsumexp", y, {x}, {save_input("x", x), save_output(y)},
                [](const Saved& s, const Tensor& gy) {
                  return use_formula() ? logsumexp_vjp(s[0], s[1], gy)
                                       : logsumexp_vjp_fused(s[0], s[1], gy);
                });
}

}  // namespace

Tensor log_softmax(const Tensor& x, int64_t axis) {
  return detail::along_last("log_softmax", x, axis, log_softmax_last);
}

Tensor logsumexp(const Tensor& in, const Axes& axes, bool keepdim) {
  detail::check_defined("logsumexp", "x", in);
  const Tensor x = to(in, in.is_floating() ? in.dtype() : f32);
  return detail::over_axes("logsumexp", x, axes, keepdim, logsumexp_last);
}

}  // namespace fovea
