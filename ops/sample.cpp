// Sampling images at real positions: what makes a glimpse differentiable in where it looks.
//
// grid_sample   x (B, C, H, W), grid (B, h, w, 2) of (x, y) in [-1, 1] -> (B, C, h, w)
// forward       y = sum over the four pixels around a position of weight * pixel; outside is 0
// backward      through the pixels by scatter, and through the position by the weights, which are
//               piecewise linear in it. Jaderberg et al. 2015, eq. 5 to 7.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/ops/internal.h"
#include "fovea/ops/window.h"

namespace fovea {
namespace {

// [-1, 1] to pixels: with align_corners -1 and 1 are the centres of the outer pixels, else their
// edges.
Tensor to_pixels(const Tensor& g, int64_t n, bool align_corners) {
  const double m = static_cast<double>(n);
  return align_corners ? (g + 1) * ((m - 1) / 2) : ((g + 1) * m - 1) * 0.5;
}

bool legal_size(int64_t h, int64_t w) {
  return h >= 1 && w >= 1 && std::max(h, w) <= detail::kLargestSide;
}

// Resizes one axis from n to `out` elements: each is one pixel, or two neighbours mixed.
Tensor resize_axis(const Tensor& x, int64_t axis, int64_t out, bool linear, bool align_corners) {
  const int64_t n = x.size(axis);
  const double ratio = static_cast<double>(n) / static_cast<double>(out);
  std::vector<int64_t> low(static_cast<size_t>(out));
  std::vector<int64_t> high(static_cast<size_t>(out));
  std::vector<double> rest(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    double at = (static_cast<double>(i) + 0.5) * ratio - 0.5;
    if (align_corners) {
      at = out > 1 ? static_cast<double>(i * (n - 1)) / static_cast<double>(out - 1) : 0;
    }
    at = std::clamp(at, 0.0, static_cast<double>(n - 1));
    low[i] = linear ? static_cast<int64_t>(at) : i * n / out;
    high[i] = std::min(low[i] + 1, n - 1);
    rest[i] = at - static_cast<double>(low[i]);
  }
  const Tensor a = index_select(x, axis, from_vector(low, {out}));
  if (!linear) return a;
  const Tensor b = index_select(x, axis, from_vector(high, {out}));
  Shape along = Shape::filled(x.dim(), 1);
  along[normalize_axis("interpolate", axis, x.dim())] = out;
  return a + (b - a) * reshape(to(from_vector(rest, {out}), x.dtype()), along);
}

}  // namespace

Tensor grid_sample(const Tensor& x, const Tensor& grid, bool align_corners) {
  detail::check_floating("grid_sample", "x", x);
  detail::check_dtype("grid_sample", "grid", grid, x.dtype());
  const bool fits = x.dim() == 4 && grid.dim() == 4 && grid.shape()[3] == 2 &&
                    grid.shape()[0] == x.shape()[0] && x.shape()[2] > 0 && x.shape()[3] > 0;
  if (!fits) {
    throw ShapeError(
        fmt::format("grid_sample: x is {}, grid is {}; need x (B, C, H, W) with pixels and grid "
                    "(B, h, w, 2)",
                    x.shape().str(), grid.shape().str()));
  }
  const int64_t batch = x.shape()[0];
  const int64_t channels = x.shape()[1];
  const int64_t h = x.shape()[2];
  const int64_t w = x.shape()[3];
  const int64_t n = grid.shape()[1] * grid.shape()[2];
  const Tensor px = to_pixels(reshape(select(grid, -1, 0), {batch, n}), w, align_corners);
  const Tensor py = to_pixels(reshape(select(grid, -1, 1), {batch, n}), h, align_corners);
  const Tensor x0 = floor(px.detach());
  const Tensor y0 = floor(py.detach());
  const Tensor fx = px - x0;  // (B, n), in [0, 1)
  const Tensor fy = py - y0;
  const Tensor pixels = reshape(x, {batch, channels, h * w});
  Tensor total;
  for (int corner = 0; corner < 4; ++corner) {
    const int right = corner % 2;
    const int below = corner / 2;
    const Tensor cx = x0 + right;
    const Tensor cy = y0 + below;
    const Tensor inside =
        logical_and(logical_and(cx >= 0, cx <= w - 1), logical_and(cy >= 0, cy <= h - 1));
    const auto whole = [&](const Tensor& c) {
      return to(masked_fill(c, logical_not(inside), 0), i64);
    };
    const Tensor at = whole(cy) * w + whole(cx);  // in floats a large image would lose its columns
    const Tensor weight =
        masked_fill((right ? fx : 1 - fx) * (below ? fy : 1 - fy), logical_not(inside), 0);
    const Tensor picked = gather(pixels, 2, expand(unsqueeze(at, 1), {batch, channels, n}));
    const Tensor value = masked_fill(picked, logical_not(unsqueeze(inside, 1)), 0);
    const Tensor part = value * unsqueeze(weight, 1);
    total = total.defined() ? total + part : part;
  }
  return reshape(total, {batch, channels, grid.shape()[1], grid.shape()[2]});
}

// theta (B, 2, 3) -> grid (B, h, w, 2): grid = theta (x, y, 1)' at the centres of h x w pixels.
Tensor affine_grid(const Tensor& theta, int64_t h, int64_t w, bool align_corners) {
  detail::check_floating("affine_grid", "theta", theta);
  if (theta.dim() != 3 || theta.shape()[1] != 2 || theta.shape()[2] != 3 || !legal_size(h, w)) {
    throw ShapeError(
        fmt::format("affine_grid: theta is {}, size {}x{}; need theta (B, 2, 3) and sizes from 1 "
                    "to {}",
                    theta.shape().str(), h, w, detail::kLargestSide));
  }
  Shape({theta.shape()[0], h, w, 2}).numel("affine_grid");
  const auto centres = [&](int64_t n) {
    const double edge = align_corners ? 1.0 : 1.0 - 1.0 / static_cast<double>(n);
    return n > 1 || !align_corners ? linspace(-edge, edge, n, theta.dtype())
                                   : zeros({1}, theta.dtype());
  };
  const auto axes = meshgrid({centres(h), centres(w)});
  const Tensor base = stack({axes[1], axes[0], ones({h, w}, theta.dtype())}, -1);  // (h, w, 3)
  const Tensor grid = matmul(reshape(base, {h * w, 3}), transpose(theta, 1, 2));
  return reshape(grid, {theta.shape()[0], h, w, 2});
}

// Resizing works on one axis after the other.
Tensor interpolate(const Tensor& x, int64_t h, int64_t w, Interpolation mode, bool align_corners) {
  detail::check_floating("interpolate", "x", x);
  if (x.dim() != 4 || !legal_size(h, w) || !legal_size(x.shape()[2], x.shape()[3])) {
    throw ShapeError(
        fmt::format("interpolate: x is {}, size {}x{}; need x (B, C, H, W) with pixels and sizes "
                    "from 1 to {}",
                    x.shape().str(), h, w, detail::kLargestSide));
  }
  Shape({x.shape()[0], x.shape()[1], h, w}).numel("interpolate");
  const bool linear = mode == Interpolation::bilinear;
  const Tensor rows = resize_axis(x, 2, h, linear, align_corners);
  return resize_axis(rows, 3, w, linear, align_corners);
}

}  // namespace fovea
