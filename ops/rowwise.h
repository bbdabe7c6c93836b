// Operations on rows: what softmax and its relatives share. Not public.
#pragma once

#include "fovea/ops/internal.h"

namespace fovea::detail {

/// y = kernel(x) on contiguous rows (rows, N) of the last axis, unrecorded. x is floating, rank
/// >= 1.
template <class Kernel>
Tensor rowwise(const Tensor& x, const Kernel& kernel) {
  const Tensor p = packed(x);
  Tensor y = empty_as(x);
  const int64_t n = x.shape().back();
  if (y.numel() == 0) return y;
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* in = p.data<T>();
    T* out = y.data<T>();
    parallel_for(x.numel() / n, grain_for(n * 4),
                 [&](int64_t b, int64_t e) { kernel(in + b * n, out + b * n, e - b, n); });
  });
  return y;
}

/// gx = kernel(s, gy), the same for two operands of one shape.
template <class Kernel>
Tensor rowwise2(const Tensor& s, const Tensor& gy, const Kernel& kernel) {
  const Tensor ps = packed(s);
  const Tensor pg = packed(gy);
  Tensor gx = empty_as(s);
  const int64_t n = s.shape().back();
  if (gx.numel() == 0) return gx;
  visit_floating(s.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* a = ps.data<T>();
    const T* g = pg.data<T>();
    T* out = gx.data<T>();
    parallel_for(s.numel() / n, grain_for(n * 4), [&](int64_t b, int64_t e) {
      kernel(a + b * n, g + b * n, out + b * n, e - b, n);
    });
  });
  return gx;
}

/// exp(x_i) / sum_j exp(x_j) over the last axis, the gradient of log sum exp(x); recorded. 0 at
/// -inf, also where a row holds nothing else. m (..., 1): the largest of each row, outside the
/// graph.
Tensor shares_of_sum(const Tensor& x, const Tensor& m);

/// f works on the last axis; this applies it along any. Integers become f32.
template <class F>
Tensor along_last(const char* op, const Tensor& in, int64_t axis, const F& f) {
  check_defined(op, "x", in);
  const Tensor x = in.is_floating() ? in : to(in, f32);
  const int d = normalize_axis(op, axis, x.dim());
  if (x.dim() == 0) return reshape(f(reshape(x, {1})), {});
  if (d == x.dim() - 1) return f(x);
  return transpose(f(transpose(x, d, -1)), d, -1);
}

}  // namespace fovea::detail
