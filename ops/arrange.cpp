// Rearrangements that are compositions of views and joins: roll, pad, unfold, diag, tril, triu,
// repeat_interleave, meshgrid. Their gradients are those of the parts.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/ops/internal.h"

namespace fovea {

// y_i = x_(i - shift), around the end.
Tensor roll(const Tensor& x, int64_t shift, int64_t axis) {
  detail::check_defined("roll", "x", x);
  const int d = normalize_axis("roll", axis, x.dim());
  if (x.dim() == 0 || x.shape()[d] == 0) return clone(x);
  const int64_t n = x.shape()[d];
  const int64_t s = (shift % n + n) % n;
  if (s == 0) return clone(x);
  return cat({narrow(x, d, n - s, s), narrow(x, d, 0, n - s)}, d);
}

// pads: (before, after) of the last axis, then of the one before it, ...; negative ones crop.
Tensor pad(const Tensor& x, const std::vector<int64_t>& pads, double value) {
  detail::check_defined("pad", "x", x);
  if (pads.size() % 2 != 0 || pads.size() / 2 > static_cast<size_t>(x.dim())) {
    throw ShapeError(fmt::format("pad: {} widths for x {}; give two an axis, last axis first",
                                 pads.size(), x.shape().str()));
  }
  detail::check_value("pad", value, x.dtype());
  Shape shape = x.shape();
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    constexpr int64_t kMost = int64_t{1} << 59;
    const int d = x.dim() - 1 - static_cast<int>(i);
    const int64_t before = pads[2 * i];
    const int64_t after = pads[2 * i + 1];
    const int64_t n = shape[d];
    const auto cut = [](int64_t width) { return std::max<int64_t>(0, -width); };
    if (before < -n || after < -n || cut(before) + cut(after) > n || before > kMost ||
        after > kMost) {
      throw ShapeError(
          fmt::format("pad: widths {} and {} on axis {} of x {}; they may crop no more than its {} "
                      "elements, and add no more than 2^59",
                      before, after, d, x.shape().str(), n));
    }
    shape[d] += before + after;
  }
  shape.numel("pad");
  Tensor y = x;
  bool joined = false;
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    const int d = x.dim() - 1 - static_cast<int>(i);
    const int64_t before = pads[2 * i];
    const int64_t after = pads[2 * i + 1];
    const int64_t from = std::max<int64_t>(0, -before);
    const int64_t kept = y.shape()[d] - from - std::max<int64_t>(0, -after);
    if (from > 0 || kept != y.shape()[d]) y = narrow(y, d, from, kept);
    Tensors parts;
    const auto border = [&](int64_t n) {
      Shape s = y.shape();
      s[d] = n;
      parts.push_back(full(s, value, x.dtype()));
    };
    if (before > 0) border(before);
    parts.push_back(y);
    if (after > 0) border(after);
    if (parts.size() > 1) y = cat(parts, d), joined = true;
  }
  return joined ? y : clone(y);  // cropping alone gives a view
}

// Windows of `size` elements every `step`: (.., N, ..) -> (.., windows, .., size).
Tensor unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step) {
  detail::check_defined("unfold", "x", x);
  const int d = normalize_axis("unfold", axis, x.dim());
  detail::check_rank("unfold", "x", x, x.dim() + 1);
  const int64_t n = x.dim() > 0 ? x.shape()[d] : 0;
  if (size < 1 || step < 1 || size > n) {
    throw ShapeError(
        fmt::format("unfold: size {} and step {} on axis {} of x {}; need 1 <= size <= {} "
                    "and step >= 1",
                    size, step, axis, x.shape().str(), n));
  }
  const int64_t windows = (n - size) / step + 1;
  std::vector<int64_t> at;
  for (int64_t w = 0; w < windows; ++w) {
    for (int64_t i = 0; i < size; ++i) at.push_back(w * step + i);
  }
  const Tensor y = index_select(x, d, from_vector(at, {windows * size}));
  Shape shape = x.shape();
  shape[d] = windows;
  shape.insert(d + 1, size);
  Shape order;
  for (int k = 0; k < shape.rank(); ++k) {
    if (k != d + 1) order.push_back(k);
  }
  order.push_back(d + 1);
  return permute(reshape(y, shape), order);
}

// A vector (N) -> a matrix with it on diagonal k; a matrix -> its diagonal k.
Tensor diag(const Tensor& x, int64_t k) {
  detail::check_defined("diag", "x", x);
  if (x.dtype() == boolean) return to(diag(to(x, i64), k), boolean);
  if (x.dim() == 1) {
    constexpr int64_t kMost = int64_t{1} << 30;  // a square of more elements fits no memory
    if (k < -kMost || k > kMost) {
      throw ShapeError(
          fmt::format("diag: k is {}, x is {}; need -2^30 <= k <= 2^30", k, x.shape().str()));
    }
    const int64_t n = x.numel() + std::abs(k);
    Shape({n, n}).numel("diag");
    const Tensor row = arange(x.numel()) + std::max<int64_t>(0, -k);
    const Tensor at = row * n + (arange(x.numel()) + std::max<int64_t>(0, k));
    return reshape(scatter_add(zeros({n * n}, x.dtype()), 0, at, x), {n, n});
  }
  if (x.dim() != 2) {
    throw ShapeError(fmt::format("diag: x is {}; a vector or a matrix is needed", x.shape().str()));
  }
  const int64_t rows = x.shape()[0];
  const int64_t cols = x.shape()[1];
  k = std::clamp(k, -rows, cols);
  const int64_t top = std::max<int64_t>(0, -k);
  const int64_t left = std::max<int64_t>(0, k);
  const int64_t n = std::max<int64_t>(0, std::min(rows - top, cols - left));
  return index_select(flatten(x), 0, (arange(n) + top) * cols + (arange(n) + left));
}

namespace {

// true where column - row <= k, or < k
Tensor lower(const Tensor& x, int64_t k, bool strict) {
  const Tensor row = reshape(arange(x.size(-2)), {-1, 1});
  const Tensor off = arange(x.size(-1)) - row;
  return strict ? off < k : off <= k;
}

void need_matrix(const char* op, const Tensor& x) {
  detail::check_defined(op, "x", x);
  if (x.dim() >= 2) return;
  throw ShapeError(
      fmt::format("{}: x is {}; matrices (..., M, N) are needed", op, x.shape().str()));
}

}  // namespace

Tensor tril(const Tensor& x, int64_t k) {
  need_matrix("tril", x);
  return masked_fill(x, logical_not(lower(x, k, false)), 0);
}

Tensor triu(const Tensor& x, int64_t k) {
  need_matrix("triu", x);
  return masked_fill(x, lower(x, k, true), 0);
}

Tensor repeat_interleave(const Tensor& x, int64_t times, int64_t axis) {
  detail::check_defined("repeat_interleave", "x", x);
  const int d = normalize_axis("repeat_interleave", axis, x.dim());
  if (times < 0) {
    throw ValueError(fmt::format("repeat_interleave: times is {}; it must be at least 0", times));
  }
  Shape shape = x.dim() == 0 ? Shape{1} : x.shape();
  Shape blocks{1, shape[d], 1, 1};  // what is before the axis, the axis, its copies, what is behind
  for (int k = 0; k < shape.rank(); ++k) {
    if (k != d) blocks[k < d ? 0 : 3] *= shape[k];
  }
  const Tensor once = reshape(x, blocks);
  blocks[2] = times;
  blocks.numel("repeat_interleave");
  shape[d] *= times;
  return reshape(clone(expand(once, blocks)), shape);
}

Tensors meshgrid(const Tensors& xs) {
  Shape shape;
  if (xs.size() > kMaxRank) {
    throw ShapeError(fmt::format("meshgrid: xs holds {} vectors, one an axis; the limit is {} axes",
                                 xs.size(), kMaxRank));
  }
  detail::check_defined("meshgrid", "xs", xs);
  for (size_t i = 0; i < xs.size(); ++i) {
    if (xs[i].dim() > 1) {
      throw ShapeError(
          fmt::format("meshgrid: xs[{}] is {}; vectors are needed", i, xs[i].shape().str()));
    }
    shape.push_back(xs[i].numel());
  }
  shape.numel("meshgrid");
  Tensors out;
  for (size_t i = 0; i < xs.size(); ++i) {
    Shape own = Shape::filled(shape.rank(), 1);
    own[static_cast<int>(i)] = xs[i].numel();
    out.push_back(clone(expand(reshape(xs[i], own), shape)));
  }
  return out;
}

}  // namespace fovea
