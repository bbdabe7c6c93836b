// softmax along an axis.                                     x, y, gy, gx: (..., N)
// forward   y_i  = exp(x_i - max x) / sum_j exp(x_j - max x)
// backward  J_ij = y_i (d_ij - y_j)   so   gx = y (gy - <y, gy>)
// saves     y only: x is not needed
#include "fovea/ops/kernels/rows.h"
#include "fovea/ops/rowwise.h"

namespace fovea {
namespace {

// The rule, in ops: read this one. Runs when someone will differentiate again.
Tensor softmax_vjp(const Tensor& y, const Tensor& gy) {
  return y * (gy - sum(y * gy, -1, keepdim));
}

// The same rule, one pass over memory.
Tensor softmax_vjp_fused(const Tensor& y, const Tensor& gy) {
  const bool stream = kernels::worth_streaming(y.numel() * item_size(y.dtype()));
  return detail::rowwise2(
      y, gy, [stream](const auto* a, const auto* g, auto* out, int64_t rows, int64_t n) {
        kernels::softmax_backward_rows(a, g, out, rows, n, stream);
      });
}

Tensor softmax_last(const Tensor& x) {
  const bool stream = kernels::worth_streaming(x.numel() * item_size(x.dtype()));
  Tensor y = detail::rowwise(x, [stream](const auto* in, auto* out, int64_t rows, int64_t n) {
    kernels::softmax_rows(in, out, rows, n, stream);
  });
  return record("softmax", y, {x}, {save_output(y)}, [](const Saved& s, const Tensor& gy) {
    return use_formula() ? softmax_vjp(s[0], gy) : softmax_vjp_fused(s[0], gy);
  });
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t axis) {
  return detail::along_last("softmax", x, axis, softmax_last);
}

}  // namespace fovea
