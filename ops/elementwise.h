// How elementwise kernels meet tensors: layouts, broadcasting, chunks. Not public.
#pragma once

#include <algorithm>

#include "fovea/ops/internal.h"

namespace fovea::detail {

/// A pair of kernels, one a floating dtype: `{kernels::exp, kernels::exp}`.
struct UnaryKernel {
  void (*f32)(const float* x, float* y, int64_t n);
  void (*f64)(const double* x, double* y, int64_t n);
};
/// gx from what was saved (x or y) and gy, in one pass.
struct UnaryBackwardKernel {
  void (*f32)(const float* s, const float* gy, float* gx, int64_t n);
  void (*f64)(const double* s, const double* gy, double* gx, int64_t n);
};
/// Operands with strides 0, 1 or any other; see kernels/binary.h.
template <class In, class Out>
using BinaryFn = void (*)(const In* a, int64_t sa, const In* b, int64_t sb, Out* y, int64_t n);

/// y = k(x), unrecorded. x is floating.
Tensor map(const Tensor& x, const UnaryKernel& k);
/// gx = k(s, gy), unrecorded; s and gy have one shape and dtype.
Tensor map_backward(const Tensor& s, const Tensor& gy, const UnaryBackwardKernel& k);
/// y = fn(a, b) over the broadcast shape, unrecorded; both have the element type In already.
template <class In, class Out>
Tensor zip(const char* op, const Tensor& a, const Tensor& b, BinaryFn<In, Out> fn);

inline constexpr int64_t kChunk = 16384;  ///< elements a task

/// Rows for the kernels, cut so that every task has about kChunk elements: row(offsets of the
/// operands' rows, first element, number of elements).
template <int N, class F>
void for_rows(const Collapsed<N>& c, F&& row) {
  const int64_t n = c.row_length();
  if (n == 0 || c.rows == 0) return;
  if (n >= kChunk) {  // long rows: several tasks each
    const int64_t pieces = (n + kChunk - 1) / kChunk;
    parallel_chunks(c.rows * pieces, [&](int64_t t) {
      const auto off = c.row_offsets(t / pieces);
      const int64_t begin = t % pieces * kChunk;
      row(off, begin, std::min(kChunk, n - begin));
    });
    return;
  }
  parallel_for(c.rows, kChunk / n, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) row(c.row_offsets(r), int64_t{0}, n);
  });
}

/// Kernels are fast on strides 0 and 1. Any other operand is better packed first, unless it is
/// tiny.
bool wants_packing(const Tensor& x);

/// The elements of x as a float tensor, recorded: integers become f32, as PyTorch's functions of
/// floats take them.
Tensor as_floating(const Tensor& x);
/// Both operands in their common dtype, recorded.
struct Promoted {
  Tensor a, b;
};
Promoted promoted(const char* op, const Tensor& a, const Tensor& b, const char* a_name = "a",
                  const char* b_name = "b");
/// The number as a 0-dim operand for x, the argument `arg`, in the dtype the result will have.
Tensor operand(const char* op, const char* arg, const Tensor& x, Scalar value);

/// ValueError when b is integers and holds a 0.
void check_divisor(const char* op, const Tensor& b);

/// A rule in two forms: `formula` in ops, used when someone differentiates again, and `fused`, one
/// pass over memory, used otherwise. The tests hold them equal.
struct UnaryRule {
  const char* name;
  UnaryKernel forward;
  bool saves_output;  // else the input
  Tensor (*formula)(const Tensor& s, const Tensor& gy);
  UnaryBackwardKernel fused;
};
Tensor unary(const UnaryRule& rule, const Tensor& x);

/// x cut to [-1000, 1000], where functions that fall or saturate exponentially have reached their
/// limits: in a formula, x times what has become 0 is then 0 and not inf * 0. NaN stays.
inline Tensor cut(const Tensor& x) { return clamp(x, -1000, 1000); }

}  // namespace fovea::detail
