// Rotary position embedding.             x, y, gy, gx: (..., D); angle: (..., D / 2); Su 2021
// forward   each pair (a, b) of x is turned by its angle t:  (a cos t - b sin t, a sin t + b cos t)
// backward  the transpose of a rotation is the rotation back: gx is gy turned by -t
// saves     angle, which the heads and sentences of a batch share
// Why: with t proportional to the position, (R_m q) . (R_n k) = q . (R_{n-m} k): scores see the
// distance of two tokens, not where they stand.
#include "fovea/ops/kernels/rope.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/ops/internal.h"

namespace fovea {
namespace {

// angle's leading axes broadcast to those of x: its strides there, for a table (..., D / 2) of one
// number an angle.
Strides table_strides(const Tensor& x, const Tensor& angle) {
  const auto fail = [&] {
    throw ShapeError(fmt::format(
        "rope: x is {}, angle is {}; need x (..., D) with an even D, and angle (..., D / 2) whose "
        "leading axes broadcast to those of x",
        x.shape().str(), angle.shape().str()));
  };
  if (x.dim() < 1 || angle.dim() < 1 || angle.dim() > x.dim()) fail();
  if (x.shape().back() != 2 * angle.shape().back()) fail();
  Shape target = x.shape();
  target[x.dim() - 1] = angle.shape().back();
  for (int d = 1; d <= angle.dim(); ++d) {
    const int64_t n = angle.shape()[angle.dim() - d];
    if (n != 1 && n != target[x.dim() - d]) fail();
  }
  Strides strides = broadcast_strides(angle.shape(), contiguous_strides(angle.shape()), target);
  strides.erase(x.dim() - 1);
  return strides;
}

Tensor rotated(const Tensor& x, const Tensor& angle, RopePairing pairing) {
  const Strides table = table_strides(x, angle);
  Tensor y = detail::empty_as(x);
  if (y.numel() == 0) return y;
  // Heads that were split from a longer row are read where they are.
  const Tensor from = x.strides().back() == 1 ? x : detail::packed(x);
  const NoGrad scope;
  const Tensor c = detail::packed(cos(angle));
  const Tensor s = detail::packed(sin(angle));
  Shape lead = x.shape();
  Strides steps = from.strides();
  lead.erase(x.dim() - 1);
  steps.erase(x.dim() - 1);
  const auto rows = collapse<2>(lead, {&steps, &table});
  const int64_t pairs = angle.shape().back(), run = rows.row_length();
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(x.numel() / (2 * pairs), grain_for(2 * pairs), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end;) {
        const int64_t at = i % run, count = std::min(run - at, end - i);
        const int64_t xs = rows.strides[0][rows.rank - 1], ts = rows.strides[1][rows.rank - 1];
        const auto [ox, ot] = rows.row_offsets(i / run);
        const kernels::RopeRows<T> in{from.data<T>() + ox + at * xs, xs, c.data<T>() + ot + at * ts,
                                      s.data<T>() + ot + at * ts, ts};
        T* out = y.data<T>() + i * 2 * pairs;
        if (pairing == RopePairing::half) {
          kernels::rope_half(in, out, count, pairs);
        } else {
          kernels::rope_interleaved(in, out, count, pairs);
        }
        i += count;
      }
    });
  });
  return y;
}

}  // namespace

Tensor rope(const Tensor& x, const Tensor& angle, RopePairing pairing) {
  detail::check_floating("rope", "x", x);
  detail::check_floating("rope", "angle", angle);
  detail::check_dtype("rope", "angle", angle, x.dtype());
  if (angle.requires_grad()) {
    throw GraphError(
        fmt::format("rope: x is {}, angle {} requires a gradient; rope gives it none: pass "
                    "angle.detach()",
                    x.shape().str(), angle.shape().str()));
  }
  return record("rope", rotated(x, angle, pairing), {x}, {save_input("angle", angle)},
                [pairing](const Saved& s, const Tensor& gy) { return rope(gy, -s[0], pairing); });
}

}  // namespace fovea
