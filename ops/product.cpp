// Products along axes: prod, cumprod.                        x, gx: (.., N, ..)
// forward   y = prod_j x_j
// backward  prod: gx_i = gy prod_{j != i} x_j, from the products before and behind i
//           cumprod: gx_i = r_i prod_{j < i} x_j,  r_i = gy_i + x_(i+1) r_(i+1)
//           No division, so that zeros among x are no special case.
#include <cmath>
#include <limits>

#include "fovea/core/allocator.h"
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

// The same in one pass from the end, in double.
Tensor cumprod_vjp_fused(const Tensor& x, const Tensor& gy) {
  return detail::rowwise2(x, gy,
                          [](const auto* a, const auto* g, auto* out, int64_t rows, int64_t n) {
                            using T = std::decay_t<decltype(*out)>;
                            Scratch<double> products(n);
                            for (int64_t r = 0; r < rows; ++r, a += n, g += n, out += n) {
                              products[0] = 1;
                              for (int64_t i = 1; i < n; ++i)
                                products[i] = products[i - 1] * double{a[i - 1]};
                              double rest = 0;
                              for (int64_t i = n - 1; i >= 0; --i) {
                                rest = double{g[i]} + (i + 1 < n ? double{a[i + 1]} * rest : 0);
                                const bool nothing = rest == 0 && std::isinf(products[i]);
                                out[i] = nothing ? T(0) : static_cast<T>(rest * products[i]);
                              }
                            }
                          });
}

Tensor cumprod_last(const Tensor& x) {
  Tensor y = detail::rowwise(x, [](const auto* in, auto* out, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; ++r) kernels::cumprod(in + r * n, out + r * n, n);
  });
  return record("cumprod", y, {x}, {save_input("x", x), save_output(y)},
                [](const Saved& s, const Tensor& gy) {
                  return use_formula() ? cumprod_vjp(s[0], s[1], gy) : cumprod_vjp_fused(s[0], gy);
                });
}

// The rule, in ops: gx_i = sum_{k >= i} gy_k y_k / x_i, a running sum from the end. Where a product
// is 0, or has left the range of numbers, the quotient is meaningless; then the sum is written out
// by Horner's rule, r_i above.
Tensor cumprod_vjp(const Tensor& x, const Tensor& y, const Tensor& gy) {
  const double least = x.dtype() == f32 ? double{std::numeric_limits<float>::min()}
                                        : std::numeric_limits<double>::min();
  const Tensor size = abs(y.detach());
  if (all(logical_and(size >= least, isfinite(size)))) {
    return flip(cumsum(flip(gy * y, -1), -1), -1) / x;
  }
  const int64_t n = x.shape().back();
  Tensors r(static_cast<size_t>(n));
  for (int64_t i = n - 1; i >= 0; --i) {
    r[i] = narrow(gy, -1, i, 1);
    if (i + 1 < n) r[i] = r[i] + narrow(x, -1, i + 1, 1) * r[i + 1];
  }
  const Tensor rest = cat(r, -1), products = before(x);
  const Tensor nothing = logical_and(rest.detach() == 0, isinf(products));
  return rest * masked_fill(products, nothing, 0);
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
