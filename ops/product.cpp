// Products along axes: prod, cumprod.                        x, gx: (.., N, ..)
// forward   y = prod_j x_j
// backward  prod: gx_i = gy prod_{j != i} x_j, from the products before and behind i. No division,
//           so that zeros among x are no special case.
#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/reduce.h"
#include "fovea/ops/reduce.h"
#include "fovea/ops/rowwise.h"

namespace fovea {
namespace {

// The product of all elements before i, along the last axis: 1, x_0, x_0 x_1, ...
Tensor before(const Tensor& x) {
  const int64_t n = x.shape().back();
  Shape one = x.shape();
  one[one.rank() - 1] = 1;
  return cumprod(cat({ones(one, x.dtype()), narrow(x, -1, 0, n - 1)}, -1), -1);
}

Tensor cumprod_vjp(const Tensor& x, const Tensor& y, const Tensor& gy);

Tensor cumprod_last(const Tensor& x) {
  Tensor y = detail::rowwise(x, [](const auto* in, auto* out, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; ++r) kernels::cumprod(in + r * n, out + r * n, n);
  });
  return record("cumprod", y, {x}, {save_input("x", x), save_output(y)},
                [](const Saved& s, const Tensor& gy) { return cumprod_vjp(s[0], s[1], gy); });
}

// gx_i = sum_{k >= i} gy_k y_k / x_i. Where no x is 0 that is a running sum from the end. A zero
// makes the quotient meaningless; then the sum is written out by Horner's rule, from the end:
//   r_i = gy_i + x_(i+1) r_(i+1),   gx_i = r_i prod_{j < i} x_j
Tensor cumprod_vjp(const Tensor& x, const Tensor& y, const Tensor& gy) {
  if (!any(x.detach() == 0)) return flip(cumsum(flip(gy * y, -1), -1), -1) / x;
  const int64_t n = x.shape().back();
  Tensors r(static_cast<size_t>(n));
  for (int64_t i = n - 1; i >= 0; --i) {
    r[i] = narrow(gy, -1, i, 1);
    if (i + 1 < n) r[i] = r[i] + narrow(x, -1, i + 1, 1) * r[i + 1];
  }
  return cat(r, -1) * before(x);
}

// (..., N) -> (...)
Tensor prod_last(const Tensor& x) {
  const Tensor p = detail::packed(x);
  const int64_t n = x.shape().back();
  Shape shape = x.shape();
  shape.erase(shape.rank() - 1);
  Tensor y = Tensor::empty(shape, x.dtype());
  visit(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, uint8_t>) {
      parallel_for(y.numel(), grain_for(n), [&](int64_t b, int64_t e) {
        for (int64_t r = b; r < e; ++r) {
          y.data<T>()[r] = static_cast<T>(kernels::prod(p.data<T>() + r * n, n));
        }
      });
    }
  });
  return record("prod", std::move(y), {x}, {save_input("x", x)},
                [](const Saved& s, const Tensor& gy) {
                  if (s[0].numel() == 0) return zeros_like(s[0]);
                  const Tensor behind = flip(before(flip(s[0], -1)), -1);
                  return unsqueeze(gy, -1) * before(s[0]) * behind;
                });
}

}  // namespace

Tensor prod(const Tensor& in, const Axes& axes, bool keepdim) {
  detail::check_defined("prod", "x", in);
  const Tensor x = in.dtype() == boolean ? to(in, i64) : in;
  return detail::over_axes("prod", x, axes, keepdim, prod_last);
}

Tensor cumprod(const Tensor& x, int64_t axis) {
  return detail::along_last("cumprod", x, axis, cumprod_last);
}

}  // namespace fovea
