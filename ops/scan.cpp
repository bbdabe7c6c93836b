// Running sums along an axis.                                x, y, gy, gx: (.., N, ..)
// forward   y_i = sum_{j <= i} x_j
// backward  gx_j = sum_{i >= j} gy_i, the running sum from the other end
// saves     nothing
#include <limits>

#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/reduce.h"
#include "fovea/ops/rowwise.h"

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

// y_i = log sum_{j <= i} exp(x_j), kept in logarithms.   gx_j = sum_{i >= j} gy_i p_ij, where the
// row p_i is the softmax of x_0, ..., x_i. exp(x_j - y_i) would be the same, but y_i has lost
// digits where x is far from 0.
namespace {

Tensor logcumsumexp_rows(const Tensor& x) {
  Tensor y = detail::rowwise(x, [](const auto* in, auto* out, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; ++r) kernels::logcumsumexp(in + r * n, out + r * n, n);
  });
  return record("logcumsumexp", y, {x}, {save_input("x", x)}, [](const Saved& s, const Tensor& gy) {
    // (rows, i, j): weight of x_j in y_i, 0 above the diagonal
    const int64_t n = gy.shape().back();
    const Tensor above = arange(n) > reshape(arange(n), {n, 1});
    const Tensor upto = masked_fill(unsqueeze(s[0], -2), above, -detail::kInf);
    const Tensor weight = detail::shares_of_sum(upto, amax(upto.detach(), -1, keepdim));
    return squeeze(matmul(unsqueeze(gy, -2), weight), -2);
  });
}

}  // namespace

Tensor logcumsumexp(const Tensor& x, int64_t axis) {
  return detail::along_last("logcumsumexp", x, axis, [](const Tensor& in) {
    Shape rows{1, in.shape().back()};  // so that the rule has an axis to spare at any rank
    for (int d = 0; d < in.dim() - 1; ++d) rows[0] *= in.shape()[d];
    return reshape(logcumsumexp_rows(reshape(in, rows)), in.shape());
  });
}

}  // namespace fovea
