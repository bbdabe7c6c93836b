// Putting tensors side by side, mirroring and tiling them.
// cat, stack  xs_i: (.., n_i, ..), y: (.., sum n_i, ..)    gx_i = the part of gy that x_i filled
// flip        y_i = x_(N - 1 - i)                          gx = flip(gy)
// repeat      y_i = x_(i mod N) on each axis               gx = sum of gy over the tiles
// saves       nothing
#include <fmt/format.h>

#include "fovea/ops/internal.h"
#include "fovea/ops/view.h"

namespace fovea {
namespace {

using detail::copy_into;

// n places of x along the axis, from `start` on; outside the graph.
Tensor window(const Tensor& x, int axis, int64_t start, int64_t n) {
  Shape shape = x.shape();
  shape[axis] = n;
  return x.alias(shape, x.strides(), n > 0 ? start * x.strides()[axis] : 0);
}

DType common_dtype(const char* op, const Tensors& xs) {
  if (xs.empty()) throw ShapeError(fmt::format("{}: xs is empty; at least 1 tensor is needed", op));
  DType dtype = boolean;
  detail::check_defined(op, "xs", xs);
  for (const Tensor& x : xs) dtype = promote(dtype, x.dtype());
  return dtype;
}

void wrong_shape(const char* op, const Tensors& xs, size_t i, const std::string& rule) {
  throw ShapeError(fmt::format("{}: xs[0] is {}, xs[{}] is {}; {}", op, xs[0].shape().str(), i,
                               xs[i].shape().str(), rule));
}

// y holds t tiles of n along each axis, the first tile filled; fills the others. Going from the
// last axis to the first, every copy moves whole filled blocks.
void fill_tiles(const Tensor& y, const Shape& tile) {
  for (int d = y.dim() - 1; d >= 0; --d) {
    Shape block = y.shape();
    for (int k = 0; k < d; ++k) block[k] = tile[k];
    const Tensor filled = y.alias(block, y.strides());
    for (int64_t at = tile[d]; at > 0 && at < y.shape()[d]; at += tile[d]) {
      copy_into(window(filled, d, at, tile[d]), window(filled, d, 0, tile[d]));
    }
  }
}

// Adds the tiles up, axis by axis: (outer, t, n inner) -> (outer, n inner).
Tensor sum_tiles(const Tensor& gy, const Shape& tile, const Shape& times) {
  Tensor g = gy;
  int64_t outer = 1;
  for (int d = 0; d < tile.rank(); ++d) {
    int64_t rest = tile[d];
    for (int k = d + 1; k < tile.rank(); ++k) rest *= tile[k] * times[k];
    if (times[d] != 1) g = sum(reshape(g, {outer, times[d], rest}), 1);
    outer *= tile[d];
  }
  return g;
}

}  // namespace

Tensor cat(const Tensors& xs, int64_t axis) {
  const DType dtype = common_dtype("cat", xs);
  if (xs[0].dim() == 0) throw ShapeError("cat: xs[0] is [], it has no axis to join; use stack");
  const int d = normalize_axis("cat", axis, xs[0].dim());
  Shape shape = xs[0].shape();
  std::vector<int64_t> sizes;
  shape[d] = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    Shape other = xs[i].shape();
    if (other.rank() == shape.rank()) other[d] = shape[d];
    if (!(other == shape)) {
      wrong_shape("cat", xs, i, fmt::format("sizes must agree on every axis but {}", d));
    }
    sizes.push_back(xs[i].shape()[d]);
    shape[d] += sizes.back();
    shape.numel("cat");
  }
  Tensor y = Tensor::empty(shape, dtype);
  int64_t at = 0;
  for (const Tensor& x : xs) {
    copy_into(window(y, d, at, x.shape()[d]), x);
    at += x.shape()[d];
  }
  return record("cat", std::move(y), xs, {}, [d, sizes](const Saved& s, const Tensor& gy) {
    Tensors g(sizes.size());
    int64_t start = 0;
    for (size_t i = 0; i < g.size(); ++i) {
      if (s.wants(static_cast<int>(i))) g[i] = narrow(gy, d, start, sizes[i]);
      start += sizes[i];
    }
    return g;
  });
}

Tensor stack(const Tensors& xs, int64_t axis) {
  const DType dtype = common_dtype("stack", xs);
  const int d = normalize_axis("stack", axis, xs[0].dim() + 1);
  for (size_t i = 1; i < xs.size(); ++i) {
    if (!(xs[i].shape() == xs[0].shape())) wrong_shape("stack", xs, i, "shapes must agree");
  }
  detail::check_rank("stack", "xs[0]", xs[0], xs[0].dim() + 1);
  Shape shape = xs[0].shape();
  shape.insert(d, static_cast<int64_t>(xs.size()));
  shape.numel("stack");
  Tensor y = Tensor::empty(shape, dtype);
  Strides strides = y.strides();
  strides.erase(d);
  for (size_t i = 0; i < xs.size(); ++i) {
    const int64_t offset = y.numel() > 0 ? static_cast<int64_t>(i) * y.strides()[d] : 0;
    copy_into(y.alias(xs[0].shape(), strides, offset), xs[i]);
  }
  return record("stack", std::move(y), xs, {},
                [d, n = xs.size()](const Saved& s, const Tensor& gy) {
                  Tensors g(n);
                  for (size_t i = 0; i < n; ++i) {
                    if (s.wants(static_cast<int>(i))) g[i] = select(gy, d, static_cast<int64_t>(i));
                  }
                  return g;
                });
}

Tensor flip(const Tensor& x, const Axes& axes) {
  detail::check_defined("flip", "x", x);
  const Shape resolved = detail::resolve_axes("flip", axes, x.dim());
  Strides strides = x.strides();
  int64_t offset = 0;
  for (int64_t d : resolved) {
    const int k = static_cast<int>(d);
    if (x.numel() > 0) offset += (x.shape()[k] - 1) * strides[k];
    strides[k] = -strides[k];
  }
  Tensor y = detail::empty_as(x);
  copy_into(y, x.alias(x.shape(), strides, offset));
  return record("flip", std::move(y), {x}, {},
                [resolved](const Saved&, const Tensor& gy) { return flip(gy, resolved); });
}

Tensor repeat(const Tensor& x, const Shape& times) {
  detail::check_defined("repeat", "x", x);
  if (times.rank() < x.dim()) {
    throw ShapeError(fmt::format("repeat: times is {}, x is {}; give at least one entry an axis",
                                 times.str(), x.shape().str()));
  }
  Shape tile = x.shape();
  while (tile.rank() < times.rank()) tile.insert(0, 1);
  Shape shape = tile;
  for (int d = 0; d < tile.rank(); ++d) {
    if (times[d] < 0) {
      throw ValueError(fmt::format("repeat: times is {}; entries must be at least 0", times.str()));
    }
    if (__builtin_mul_overflow(tile[d], times[d], &shape[d])) {
      throw ShapeError(fmt::format("repeat: x is {}, times is {}; their product must fit memory",
                                   x.shape().str(), times.str()));
    }
  }
  shape.numel("repeat");
  Tensor y = Tensor::empty(shape, x.dtype());
  if (y.numel() > 0) {
    copy_into(y.alias(tile, y.strides()), x);
    fill_tiles(y, tile);
  }
  return record("repeat", std::move(y), {x}, {},
                [tile, times, to = x.shape()](const Saved&, const Tensor& gy) {
                  return reshape(sum_tiles(gy, tile, times), to);
                });
}

}  // namespace fovea
