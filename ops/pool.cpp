// Pooling over windows.                                    x: (B, C, H, W); y: (B, C, Ho, Wo)
// max       y = the largest element of the window, the first of ties; gy goes to that element
// average   y = the mean of the window, zeros of the padding included
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "fovea/ops/internal.h"
#include "fovea/ops/window.h"

namespace fovea {
namespace {

using detail::Window;

Window pool_window(const char* op, const Tensor& x, const PoolOptions& o) {
  detail::check_floating(op, "x", x);
  if (x.dim() != 4 || x.shape()[2] < 1 || x.shape()[3] < 1) {
    throw ShapeError(
        fmt::format("{}: x is {}; need (B, C, H, W) with pixels", op, x.shape().str()));
  }
  ConvOptions c;
  c.stride = {o.stride[0] != 0 ? o.stride[0] : o.kernel[0],
              o.stride[1] != 0 ? o.stride[1] : o.kernel[1]};
  c.padding = o.padding;
  const Window w = detail::make_window(op, x.shape(), o.kernel[0], o.kernel[1], c);
  if (2 * w.ph > w.kh || 2 * w.pw > w.kw) {
    throw ValueError(
        fmt::format("{}: padding is {}x{}, kernel is {}x{}; need padding of no more than half the "
                    "kernel",
                    op, w.ph, w.pw, w.kh, w.kw));
  }
  return w;
}

// Where the largest element of each window is, as an index into H W.
template <class T>
void largest(const T* x, int64_t* at, const Window& w) {
  for (int64_t oy = 0; oy < w.out_h(); ++oy) {
    for (int64_t ox = 0; ox < w.out_w(); ++ox) {
      int64_t best = -1;
      for (int64_t i = 0; i < w.kh; ++i) {
        for (int64_t j = 0; j < w.kw; ++j) {
          const int64_t y = oy * w.sh - w.ph + i;
          const int64_t xx = ox * w.sw - w.pw + j;
          if (y < 0 || y >= w.h || xx < 0 || xx >= w.w) continue;
          const int64_t k = y * w.w + xx;
          const bool first_nan = best >= 0 && std::isnan(x[k]) && !std::isnan(x[best]);
          if (best < 0 || x[k] > x[best] || first_nan) best = k;
        }
      }
      at[oy * w.out_w() + ox] = best;
    }
  }
}

}  // namespace

Tensor max_pool2d(const Tensor& x, const PoolOptions& o) {
  const Window w = pool_window("max_pool2d", x, o);
  const int64_t planes = x.shape()[0] * x.shape()[1];
  const int64_t out = w.out_h() * w.out_w();
  const Tensor p = detail::packed(x);
  Tensor at = Tensor::empty({planes, out}, i64);
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(planes, grain_for(out * w.kh * w.kw), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) {
        largest(p.data<T>() + i * w.h * w.w, at.data<int64_t>() + i * out, w);
      }
    });
  });
  const Tensor y = gather(reshape(x, {planes, w.h * w.w}), 1, at);
  return reshape(y, {x.shape()[0], x.shape()[1], w.out_h(), w.out_w()});
}

Tensor avg_pool2d(const Tensor& x, const PoolOptions& o) {
  const Window w = pool_window("avg_pool2d", x, o);
  const Shape s = x.shape();
  const Tensor windows =
      reshape(detail::im2col(x, w), {s[0], s[1], w.kh * w.kw, w.out_h() * w.out_w()});
  return reshape(mean(windows, 2), {s[0], s[1], w.out_h(), w.out_w()});
}

}  // namespace fovea
