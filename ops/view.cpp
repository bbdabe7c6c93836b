// Views: the same storage under another shape, strides or offset.
// forward   no element moves
// backward  the inverse view of gy; for a part of x, gy placed in zeros
// saves     nothing
#include "fovea/ops/view.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/ops/internal.h"

namespace fovea {
namespace {

// Strides that show `x` as `shape` without moving elements, or false. Axes of x that lie evenly
// behind each other form a block; a block may be cut anywhere, but no new axis may span two.
bool view_strides(const Tensor& x, const Shape& shape, Strides& out) {
  out = contiguous_strides(shape);
  if (x.is_contiguous() || x.numel() == 0) return true;
  int to = shape.rank() - 1;
  int64_t block = 1;
  int64_t seen = 1;
  int64_t base = x.strides()[x.dim() - 1];
  for (int d = x.dim() - 1; d >= 0; --d) {
    block *= x.shape()[d];
    const bool ends = d == 0 || (x.shape()[d - 1] != 1 && x.strides()[d - 1] != block * base);
    if (!ends) continue;
    while (to >= 0 && (seen < block || shape[to] == 1)) {
      out[to] = seen * base;
      seen *= shape[to--];
    }
    if (seen != block) return false;
    if (d > 0) {
      base = x.strides()[d - 1];
      block = seen = 1;
    }
  }
  return to == -1;
}

// Replaces one -1 by the size that is left.
Shape resolve_shape(const char* op, const Tensor& x, const Shape& asked) {
  Shape shape = asked;
  int open = -1;
  Shape rest;  // without the -1
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] >= 0) {
      rest.push_back(shape[d]);
    } else if (shape[d] == -1 && open < 0) {
      open = d;
    } else {
      throw ShapeError(
          fmt::format("{}: x is {}, shape is {}; sizes must be at least 0, and one may be -1", op,
                      x.shape().str(), asked.str()));
    }
  }
  const int64_t known = rest.numel(op);
  if (open >= 0 && known > 0 && x.numel() % known == 0) shape[open] = x.numel() / known;
  if ((open >= 0 && shape[open] < 0) || shape.numel(op) != x.numel()) {
    throw ShapeError(fmt::format("{}: x is {}, shape is {}; it must hold the {} elements of x", op,
                                 x.shape().str(), asked.str(), x.numel()));
  }
  return shape;
}

Tensor reshaped(const char* op, const Tensor& x, const Shape& shape, const Strides& strides) {
  return record(op, x.alias(shape, strides), {x}, {},
                [from = x.shape()](const Saved&, const Tensor& gy) { return reshape(gy, from); });
}

}  // namespace

Tensor view(const Tensor& x, const Shape& asked) {
  detail::check_defined("view", "x", x);
  const Shape shape = resolve_shape("view", x, asked);
  Strides strides;
  if (!view_strides(x, shape, strides)) {
    throw ShapeError(
        fmt::format("view: x is {} with strides {}, shape {} would need a copy; use reshape",
                    x.shape().str(), x.strides().str(), shape.str()));
  }
  return reshaped("view", x, shape, strides);
}

Tensor reshape(const Tensor& x, const Shape& asked) {
  detail::check_defined("reshape", "x", x);
  const Shape shape = resolve_shape("reshape", x, asked);
  Strides strides;
  if (view_strides(x, shape, strides)) return reshaped("reshape", x, shape, strides);
  return reshaped("reshape", contiguous(x), shape, contiguous_strides(shape));
}

Tensor flatten(const Tensor& x, int64_t start, int64_t end) {
  detail::check_defined("flatten", "x", x);
  if (x.dim() == 0) return reshape(x, {1});
  const int a = normalize_axis("flatten", start, x.dim());
  const int b = normalize_axis("flatten", end, x.dim());
  if (b < a) {
    throw IndexError(
        fmt::format("flatten: start is axis {}, end is axis {} of x {}; need start <= end", start,
                    end, x.shape().str()));
  }
  Shape shape;
  for (int d = 0; d < x.dim(); ++d) {
    if (d > a && d <= b) {
      shape[shape.rank() - 1] *= x.shape()[d];
    } else {
      shape.push_back(x.shape()[d]);
    }
  }
  return reshape(x, shape);
}

Tensor permute(const Tensor& x, const Axes& order) {
  detail::check_defined("permute", "x", x);
  if (order.list.rank() != x.dim()) {
    throw ShapeError(fmt::format("permute: order is {}, x is {}; name each of the {} axes once",
                                 order.list.str(), x.shape().str(), x.dim()));
  }
  Shape shape = x.shape();
  Strides strides = x.strides();
  Shape inverse = Shape::filled(x.dim(), -1);
  for (int i = 0; i < x.dim(); ++i) {
    const int a = normalize_axis("permute", order.list[i], x.dim());
    if (inverse[a] >= 0) {
      throw IndexError(fmt::format(
          "permute: axis {} is given twice in order {}; name each axis once", a, order.list.str()));
    }
    inverse[a] = i;
    shape[i] = x.shape()[a];
    strides[i] = x.strides()[a];
  }
  return record("permute", x.alias(shape, strides), {x}, {},
                [inverse](const Saved&, const Tensor& gy) { return permute(gy, inverse); });
}

Tensor transpose(const Tensor& x, int64_t a, int64_t b) {
  detail::check_defined("transpose", "x", x);
  const int i = normalize_axis("transpose", a, x.dim());
  const int j = normalize_axis("transpose", b, x.dim());
  Shape shape = x.shape();
  Strides strides = x.strides();
  if (x.dim() > 0) {
    std::swap(shape[i], shape[j]);
    std::swap(strides[i], strides[j]);
  }
  return record("transpose", x.alias(shape, strides), {x}, {},
                [i, j](const Saved&, const Tensor& gy) { return transpose(gy, i, j); });
}

Tensor squeeze(const Tensor& x) {
  detail::check_defined("squeeze", "x", x);
  Shape shape;
  Strides strides;
  for (int d = 0; d < x.dim(); ++d) {
    if (x.shape()[d] == 1) continue;
    shape.push_back(x.shape()[d]);
    strides.push_back(x.strides()[d]);
  }
  return reshaped("squeeze", x, shape, strides);
}

Tensor squeeze(const Tensor& x, int64_t axis) {
  detail::check_defined("squeeze", "x", x);
  const int d = normalize_axis("squeeze", axis, x.dim());
  Shape shape = x.shape();
  Strides strides = x.strides();
  if (x.dim() > 0 && shape[d] == 1) {
    shape.erase(d);
    strides.erase(d);
  }
  return reshaped("squeeze", x, shape, strides);
}

Tensor unsqueeze(const Tensor& x, int64_t axis) {
  detail::check_defined("unsqueeze", "x", x);
  const int d = normalize_axis("unsqueeze", axis, x.dim() + 1);
  detail::check_rank("unsqueeze", "x", x, x.dim() + 1);
  Shape shape = x.shape();
  Strides strides = x.strides();
  const int64_t step = d < x.dim() ? shape[d] * strides[d] : 1;
  shape.insert(d, 1);
  strides.insert(d, step);
  return reshaped("unsqueeze", x, shape, strides);
}

namespace {

Tensor expanded(const char* op, const Tensor& x, const Shape& asked) {
  detail::check_defined(op, "x", x);
  Shape shape = asked;
  const int pad = shape.rank() - x.dim();
  bool fits = pad >= 0;
  for (int d = 0; d < shape.rank() && fits; ++d) {
    const int64_t own = d >= pad ? x.shape()[d - pad] : -1;
    if (shape[d] == -1 && own >= 0) shape[d] = own;
    fits = shape[d] >= 0 && (own < 0 || own == 1 || own == shape[d]);
  }
  if (!fits) {
    throw ShapeError(
        fmt::format("{}: x is {}, shape is {}; only axes of size 1 grow, new ones come first", op,
                    x.shape().str(), asked.str()));
  }
  shape.numel(op);
  // backward: the engine sums gy over the axes that grew.
  return record("expand", x.alias(shape, broadcast_strides(x.shape(), x.strides(), shape)), {x}, {},
                [](const Saved&, const Tensor& gy) { return gy; });
}

}  // namespace

Tensor expand(const Tensor& x, const Shape& shape) { return expanded("expand", x, shape); }
Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  return expanded("broadcast_to", x, shape);
}

}  // namespace fovea
