// Running sums along an axis.                                x, y, gy, gx: (.., N, ..)
// forward   y_i = sum_{j <= i} x_j
// backward  gx_j = sum_{i >= j} gy_i, the running sum from the other end
// saves     nothing
#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/reduce.h"

namespace fovea {
namespace {

// Along the last axis.
Tensor running_sum(const Tensor& x, bool reverse) {
  const Tensor p = detail::packed(x);
  Tensor y = detail::empty_as(x);
  const int64_t n = x.shape().back();
  if (y.numel() > 0) {
    visit(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      if constexpr (!std::is_same_v<T, uint8_t>) {
        parallel_for(x.numel() / n, grain_for(n), [&](int64_t b, int64_t e) {
          for (int64_t r = b; r < e; ++r) {
            kernels::cumsum(p.data<T>() + r * n, y.data<T>() + r * n, n, reverse);
          }
        });
      }
    });
  }
  return record("cumsum", std::move(y), {x}, {},
                [reverse](const Saved&, const Tensor& gy) { return running_sum(gy, !reverse); });
}

}  // namespace

Tensor cumsum(const Tensor& in, int64_t axis) {
  detail::check_defined("cumsum", "x", in);
  const Tensor x = in.dtype() == boolean ? to(in, i64) : in;
  const int d = normalize_axis("cumsum", axis, x.dim());
  if (x.dim() == 0) return clone(x);
  if (d == x.dim() - 1) return running_sum(x, false);
  return transpose(running_sum(transpose(x, d, -1), false), d, -1);
}

}  // namespace fovea
