// Products along axes: prod, cumprod.                        x, gx: (.., N, ..)
// forward   y = prod_j x_j
// backward  prod: gx_i = gy prod_{j != i} x_j, from the products before and behind i
//           cumprod: gx_i = r_i prod_{j < i} x_j,  r_i = gy_i + x_(i+1) r_(i+1)
//           No division, so that zeros among x are no special case. Fused they run in double, so
//           that products of floats may leave the range of floats on the way.
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

// a b, and 0 where one of them is 0 and the other has overflowed.
double in_range(double a, double b) {
  const bool lost = (a == 0 && std::isinf(b)) || (b == 0 && std::isinf(a));
  return lost ? 0 : a * b;
}
Tensor in_range(const Tensor& a, const Tensor& b) {
  const Tensor lost =
      logical_or(logical_and(a.detach() == 0, isinf(b)), logical_and(b.detach() == 0, isinf(a)));
  return masked_fill(a, lost, 0) * masked_fill(b, lost, 0);
}

// One row of each gradient, in double; products is room for n numbers.
template <class T>
void products_before(const T* x, double* products, int64_t n) {
  products[0] = 1;
  for (int64_t i = 1; i < n; ++i) products[i] = products[i - 1] * double{x[i - 1]};
}

template <class T>
void cumprod_backward_row(const T* x, const T* gy, T* gx, double* products, int64_t n) {
  products_before(x, products, n);
  double r = 0;
  for (int64_t i = n - 1; i >= 0; --i) {
    r = double{gy[i]} + (i + 1 < n ? double{x[i + 1]} * r : 0);
    gx[i] = static_cast<T>(in_range(r, products[i]));
  }
}

template <class T>
void prod_backward_row(const T* x, double gy, T* gx, double* products, int64_t n) {
  products_before(x, products, n);
  double behind = 1;
  for (int64_t i = n - 1; i >= 0; --i) {
    gx[i] = static_cast<T>(gy * in_range(products[i], behind));
    behind *= double{x[i]};
  }
}

Tensor cumprod_vjp_fused(const Tensor& x, const Tensor& gy) {
  const auto kernel = [](const auto* a, const auto* g, auto* out, int64_t rows, int64_t n) {
    Scratch<double> products(n);
    for (int64_t r = 0; r < rows; ++r) {
      cumprod_backward_row(a + r * n, g + r * n, out + r * n, products.data(), n);
    }
  };
  return detail::rowwise2(x, gy, kernel);
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
  return in_range(cat(r, -1), before(x));
}

Tensor prod_vjp(const Tensor& x, const Tensor& gy) {
  const Tensor behind = flip(before(flip(x, -1)), -1);
  return unsqueeze(gy, -1) * in_range(before(x), behind);
}

Tensor prod_vjp_fused(const Tensor& x, const Tensor& gy) {
  const Tensor px = detail::packed(x), pg = detail::packed(gy);
  Tensor gx = detail::empty_as(x);
  const int64_t n = x.shape().back();
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(gy.numel(), grain_for(n * 4), [&](int64_t b, int64_t e) {
      Scratch<double> products(n);
      for (int64_t r = b; r < e; ++r) {
        prod_backward_row(px.data<T>() + r * n, double{pg.data<T>()[r]}, gx.data<T>() + r * n,
                          products.data(), n);
      }
    });
  });
  return gx;
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
                  return use_formula() ? prod_vjp(s[0], gy) : prod_vjp_fused(s[0], gy);
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
