// log_softmax and logsumexp.                                 x, y, gy, gx: (..., N)
// forward   y_i = x_i - L,  L = log sum_j exp(x_j), computed after subtracting the maximum
// backward  log_softmax: gx = gy - exp(y) sum(gy);   logsumexp: gx = gL exp(x - m) / s,
//           m = max x, s = sum_j exp(x_j - m)
//           a logit of -inf has probability 0 and takes gradient 0
// saves     log_softmax: y;   logsumexp: x, m and s. L itself would not do: at 1e8 it has lost log
// s
#include <limits>

#include "fovea/ops/kernels/rows.h"
#include "fovea/ops/reduce.h"
#include "fovea/ops/rowwise.h"

namespace fovea {

// m is a constant: the shares do not depend on it. An infinite one is left out, as inf - inf is
// NaN; and a row of nothing but -inf has no sum to divide by.
Tensor detail::shares_of_sum(const Tensor& x, const Tensor& m) {
  const Tensor nothing = x == -kInf;
  const Tensor shift = masked_fill(m, logical_not(isfinite(m)), 0);
  const Tensor e = exp(masked_fill(x - shift, nothing, -kInf));
  const Tensor s = sum(e, -1, keepdim);
  return masked_fill(e / masked_fill(s, s == 0, 1), nothing, 0);
}

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

Tensor logsumexp_vjp_fused(const Tensor& x, const Tensor& m, const Tensor& s, const Tensor& gy) {
  const Tensor px = detail::packed(x);
  const Tensor pg = detail::packed(gy);
  Tensor gx = detail::empty_as(x);
  const int64_t n = x.shape().back();
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(m.numel(), grain_for(n * 4), [&](int64_t b, int64_t e) {
      kernels::logsumexp_backward_rows(px.data<T>() + b * n, m.data<T>() + b, s.data<T>() + b,
                                       pg.data<T>() + b, gx.data<T>() + b * n, e - b, n);
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
  const Tensor m = detail::empty_as(y), s = detail::empty_as(y);
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(y.numel(), grain_for(n * 4), [&](int64_t b, int64_t e) {
      kernels::logsumexp_rows(p.data<T>() + b * n, y.data<T>() + b, m.data<T>() + b,
                              s.data<T>() + b, e - b, n);
    });
  });
  return record("logsumexp", std::move(y), {x},
                {save_input("x", x), save_extra("max", m), save_extra("sum", s)},
                [](const Saved& kept, const Tensor& gy) {
                  return use_formula() ? gy * detail::shares_of_sum(kept[0], kept[1])
                                       : logsumexp_vjp_fused(kept[0], kept[1], kept[2], gy);
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
