// Parts of a tensor along one axis.                        x: (.., N, ..), y, gy: (.., n, ..)
// forward   y_i = x_(start + i step), a view
// backward  gx = zeros with gy at those places; the two are each other's transpose
// saves     nothing
#include <fmt/format.h>

#include <algorithm>

#include "fovea/ops/internal.h"
#include "fovea/ops/view.h"

namespace fovea {
namespace detail {
namespace {

Tensor part_view(const Tensor& x, const Part& p) {
  Shape shape = x.shape();
  Strides strides = x.strides();
  const int64_t offset = p.length > 0 ? p.start * strides[p.axis] : 0;
  shape[p.axis] = p.length;
  if (p.length > 1) strides[p.axis] *= p.step;  // else unused, and a huge step would overflow
  return x.alias(shape, strides, offset);
}

}  // namespace

Tensor take_part(const Tensor& x, const Part& p) {
  return record(
      "slice", part_view(x, p), {x}, {},
      [p, shape = x.shape()](const Saved&, const Tensor& gy) { return place_part(gy, shape, p); });
}

Tensor place_part(const Tensor& x, const Shape& shape, const Part& p) {
  Tensor y = Tensor::empty(shape, x.dtype());
  fill_with(y, 0);
  copy_into(part_view(y, p), x);
  return record("slice_backward", std::move(y), {x}, {},
                [p](const Saved&, const Tensor& gy) { return take_part(gy, p); });
}

}  // namespace detail

namespace {

void need_axis(const char* op, const Tensor& x) {
  detail::check_defined(op, "x", x);
  if (x.dim() > 0) return;
  throw IndexError(fmt::format("{}: x is [], it has no axis to cut; unsqueeze() it first", op));
}

}  // namespace

Tensor slice(const Tensor& x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  need_axis("slice", x);
  const int d = normalize_axis("slice", axis, x.dim());
  if (step < 1) throw ValueError(fmt::format("slice: step is {}; it must be at least 1", step));
  const int64_t n = x.shape()[d];
  const auto clip = [n](int64_t i) { return std::clamp(i < 0 ? i + n : i, int64_t{0}, n); };
  const int64_t from = clip(start);
  const int64_t to = std::max(from, clip(end));
  return detail::take_part(x, {d, from, to > from ? (to - from - 1) / step + 1 : 0, step});
}

Tensor narrow(const Tensor& x, int64_t axis, int64_t start, int64_t length) {
  need_axis("narrow", x);
  const int d = normalize_axis("narrow", axis, x.dim());
  const int64_t n = x.shape()[d];
  const int64_t from = start < 0 ? start + n : start;
  if (from < 0 || length < 0 || from > n || length > n - from) {
    throw IndexError(
        fmt::format("narrow: start is {}, length is {} on axis {} of x {}; need 0 <= length and "
                    "start + length <= {}",
                    start, length, d, x.shape().str(), n));
  }
  return detail::take_part(x, {d, from, length, 1});
}

Tensor select(const Tensor& x, int64_t axis, int64_t index) {
  need_axis("select", x);
  const int d = normalize_axis("select", axis, x.dim());
  const int64_t n = x.shape()[d];
  if (index < -n || index >= n) {
    throw IndexError(fmt::format(
        "select: index {} is out of range on axis {} of x {}; {}", index, d, x.shape().str(),
        n > 0 ? fmt::format("use {} to {}", -n, n - 1) : "that axis has no element"));
  }
  return squeeze(detail::take_part(x, {d, index < 0 ? index + n : index, 1, 1}), d);
}

Tensors split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis) {
  need_axis("split", x);
  const int d = normalize_axis("split", axis, x.dim());
  int64_t left = x.shape()[d];  // never below 0, so that no sum can overflow
  bool fits = true;
  for (int64_t s : sizes) {
    fits = fits && s >= 0 && s <= left;
    if (fits) left -= s;
  }
  if (!fits || left != 0) {
    throw ShapeError(
        fmt::format("split: sizes are [{}], x is {}; they must be at least 0 and sum to {}, the "
                    "size of axis {}",
                    fmt::join(sizes, ", "), x.shape().str(), x.shape()[d], d));
  }
  Tensors out;
  int64_t at = 0;
  for (int64_t s : sizes) {
    out.push_back(detail::take_part(x, {d, at, s, 1}));
    at += s;
  }
  return out;
}

Tensors split(const Tensor& x, int64_t size, int64_t axis) {
  need_axis("split", x);
  if (size < 1) throw ValueError(fmt::format("split: size is {}; it must be at least 1", size));
  const int64_t n = x.shape()[normalize_axis("split", axis, x.dim())];
  std::vector<int64_t> sizes;
  for (int64_t at = 0; at < n || sizes.empty(); at += size) sizes.push_back(std::min(size, n - at));
  return split(x, sizes, axis);
}

Tensors chunk(const Tensor& x, int64_t chunks, int64_t axis) {
  need_axis("chunk", x);
  if (chunks < 1)
    throw ValueError(fmt::format("chunk: chunks is {}; at least 1 is needed", chunks));
  const int64_t n = x.shape()[normalize_axis("chunk", axis, x.dim())];
  return split(x, n > 0 ? (n - 1) / chunks + 1 : 1, axis);
}

Tensors unbind(const Tensor& x, int64_t axis) {
  need_axis("unbind", x);
  Tensors out;
  for (int64_t i = 0; i < x.shape()[normalize_axis("unbind", axis, x.dim())]; ++i) {
    out.push_back(select(x, axis, i));
  }
  return out;
}

}  // namespace fovea
