// Sums and means over axes.                          x, gx: (A.., R.., B..), y, gy: (A.., B..)
// forward   y = sum over R of x
// backward  gx = gy, shown along R by stride 0
// saves     nothing
#include "fovea/ops/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/ops/kernels/reduce.h"

namespace fovea {
namespace detail {

Reduction3 reduction_layout(const char* op, const Tensor& x, const Axes& axes) {
  check_defined(op, "x", x);
  Reduction3 l;
  l.axes = resolve_axes(op, axes, x.dim());
  // The axes lie together when nothing but size 1 is between the first and the last of them.
  bool together = true;
  for (int i = 1; i < l.axes.rank(); ++i) {
    for (int64_t d = l.axes[i - 1] + 1; d < l.axes[i]; ++d) together &= x.shape()[d] == 1;
  }
  for (int64_t d : l.axes) l.r *= x.shape()[d];
  if (together && x.is_contiguous()) {
    for (int d = 0; d < x.dim(); ++d) {
      if (std::find(l.axes.begin(), l.axes.end(), d) != l.axes.end()) continue;
      (d < (l.axes.rank() ? l.axes[0] : 0) ? l.a : l.b) *= x.shape()[d];
    }
    l.data = x;
    return l;
  }
  Shape order = Shape();
  for (int d = 0; d < x.dim(); ++d) {
    if (std::find(l.axes.begin(), l.axes.end(), d) != l.axes.end()) continue;
    order.push_back(d);
    l.a *= x.shape()[d];
  }
  for (int64_t d : l.axes) order.push_back(d);
  const NoGrad scope;
  l.data = packed(x.dim() > 0 ? permute(x, order) : x);
  return l;
}

Tensor over_axes(const char* op, const Tensor& x, const Axes& axes, bool keepdim,
                 Tensor (*reduce_rows)(const Tensor& rows)) {
  const Shape reduced = resolve_axes(op, axes, x.dim());
  Shape order;  // the kept axes, then the reduced ones
  int64_t kept = 1;
  int64_t n = 1;
  int next = 0;
  for (int d = 0; d < x.dim(); ++d) {
    if (next < reduced.rank() && reduced[next] == d) {
      n *= x.shape()[d];
      ++next;
    } else {
      order.push_back(d);
      kept *= x.shape()[d];
    }
  }
  for (int64_t d : reduced) order.push_back(d);
  const Tensor rows = reshape(x.dim() > 0 ? permute(x, order) : x, {kept, n});
  return reshape(reduce_rows(rows), reduced_shape(x.shape(), reduced, keepdim));
}

void check_not_empty(const char* op, const Tensor& x, const Reduction3& l) {
  if (l.r > 0 || l.a * l.b == 0) return;
  throw ShapeError(
      fmt::format("{}: x is {}, there is no element along axes {}; at least one is needed", op,
                  x.shape().str(), l.axes.str()));
}

Tensor spread(const Tensor& gy, const Shape& shape, const Shape& axes) {
  Shape kept = shape;
  for (int64_t d : axes) {
    if (shape.rank() > 0) kept[static_cast<int>(d)] = 1;
  }
  return expand(reshape(gy, kept), shape);
}

namespace {

constexpr int64_t kPiece = 65536;  // elements that one task sums

// One sum a row of R elements; long rows in pieces, whose sums are added in order.
template <class T, class Acc>
void sum_rows(const T* x, Acc* out, int64_t rows, int64_t n) {
  if (n <= kPiece) {
    parallel_for(rows, std::max<int64_t>(1, kPiece / std::max<int64_t>(1, n)),
                 [&](int64_t b, int64_t e) {
                   for (int64_t i = b; i < e; ++i) out[i] = kernels::sum(x + i * n, n);
                 });
    return;
  }
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  Scratch<Acc> part(rows * pieces);
  parallel_chunks(rows * pieces, [&](int64_t t) {
    const int64_t at = t % pieces * kPiece;
    part[t] = kernels::sum(x + t / pieces * n + at, std::min(kPiece, n - at));
  });
  for (int64_t i = 0; i < rows; ++i) {
    Acc s = 0;
    for (int64_t p = 0; p < pieces; ++p) s += part[i * pieces + p];
    out[i] = s;
  }
}

// Sums of columns: (A, R, B) -> (A, B). R is cut into at most 32 blocks, each with sums of its own.
template <class T, class Acc>
void sum_columns(const T* x, Acc* out, int64_t a, int64_t r, int64_t b) {
  const int64_t block = std::max((r + 31) / 32, std::max<int64_t>(1, kPiece / b));
  const int64_t blocks = (r + block - 1) / block;
  Scratch<Acc> part(a * blocks * b);
  parallel_chunks(a * blocks, [&](int64_t t) {
    Acc* acc = part.data() + t * b;
    std::fill(acc, acc + b, Acc(0));
    const int64_t first = t % blocks * block;
    kernels::add_rows(x + (t / blocks * r + first) * b, std::min(block, r - first), b, b, acc);
  });
  parallel_for(a, std::max<int64_t>(1, kPiece / (blocks * b)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::fill(out + i * b, out + (i + 1) * b, Acc(0));
      for (int64_t p = 0; p < blocks; ++p) {
        const Acc* acc = part.data() + (i * blocks + p) * b;
        for (int64_t j = 0; j < b; ++j) out[i * b + j] += acc[j];
      }
    }
  });
}

Tensor raw_sum(const Reduction3& l, const Shape& shape, double scale) {
  const DType t = l.data.dtype();
  Tensor y = Tensor::empty(shape, fovea::is_floating(t) ? t : i64);
  const int64_t n = l.a * l.b;
  if (n == 0) return y;
  if (l.r == 0) {
    fill_with(y, 0);
    return y;
  }
  visit(t, [&](auto zero) {
    using T = decltype(zero);
    using Acc = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
    using Out = std::conditional_t<std::is_floating_point_v<T>, T, int64_t>;
    Scratch<Acc> acc(n);
    const T* x = l.data.data<T>();
    if (l.b == 1) {
      sum_rows(x, acc.data(), l.a, l.r);
    } else {
      sum_columns(x, acc.data(), l.a, l.r, l.b);
    }
    Out* out = y.data<Out>();
    if constexpr (std::is_floating_point_v<T>) {
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(acc[i] * scale);
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = acc[i];
    }
  });
  return y;
}

}  // namespace
}  // namespace detail

Tensor sum(const Tensor& x, const Axes& axes, bool keepdim) {
  const auto l = detail::reduction_layout("sum", x, axes);
  return record("sum", detail::raw_sum(l, detail::reduced_shape(x.shape(), l.axes, keepdim), 1),
                {x}, {}, [shape = x.shape(), axes = l.axes](const Saved&, const Tensor& gy) {
                  return detail::spread(gy, shape, axes);
                });
}

// y = sum(x) / n;  gx = gy / n
Tensor mean(const Tensor& x, const Axes& axes, bool keepdim) {
  detail::check_floating("mean", "x", x);
  const auto l = detail::reduction_layout("mean", x, axes);
  detail::check_not_empty("mean", x, l);
  const double scale = 1.0 / static_cast<double>(std::max<int64_t>(1, l.r));
  return record("mean",
                detail::raw_sum(l, detail::reduced_shape(x.shape(), l.axes, keepdim), scale), {x},
                {}, [shape = x.shape(), axes = l.axes, scale](const Saved&, const Tensor& gy) {
                  return detail::spread(gy * scale, shape, axes);
                });
}

// Both are taken from the first element, not from 0: in a constant row they are then exactly 0,
// where the rounding of a mean would leave a spread, and std a gradient, of noise; and a row far
// from 0 keeps its digits. Elements whose difference overflows, as +-3e38 in f32, have none: NaN.
Tensor detail::deviations(const Tensor& x, const Axes& axes) {
  Tensor first = x.detach();
  for (const int64_t axis : resolve_axes("mean", axes, x.dim())) first = narrow(first, axis, 0, 1);
  const Tensor shifted = x - first;
  return shifted - mean(shifted, axes, true);
}

Tensor detail::scale_of(const Tensor& x, const Axes& axes, double at_least) {
  const NoGrad scope;
  const Tensor c = amax(abs(x), axes, true);
  visit_floating(c.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* p = c.data<T>();
    for (int64_t i = 0; i < c.numel(); ++i) {
      const double size = std::max(static_cast<double>(p[i]), at_least);  // NaN stays NaN
      const bool usable = size > 0 && std::isfinite(size);
      p[i] = usable ? static_cast<T>(std::ldexp(1.0, std::ilogb(size))) : T(1);
    }
  });
  return c;
}

namespace {

// y = sum (x - mean)^2 / (n - correction), the mean first and then the deviations.
Tensor variance(const char* op, const Tensor& x, const Axes& axes, int64_t correction,
                bool keepdim) {
  detail::check_floating(op, "x", x);
  const auto l = detail::reduction_layout(op, x, axes);
  detail::check_not_empty(op, x, l);
  if (correction < 0 || l.r <= correction) {
    throw ValueError(
        fmt::format("{}: correction is {}, x {} has {} elements along axes {}; it must be at least "
                    "0 and below their number",
                    op, correction, x.shape().str(), l.r, l.axes.str()));
  }
  return sum(square(detail::deviations(x, axes)), axes, keepdim) /
         static_cast<double>(l.r - correction);
}

}  // namespace

Tensor var(const Tensor& x, const Axes& axes, int64_t correction, bool keepdim) {
  return variance("var", x, axes, correction, keepdim);
}

// std(x) = c std(x / c): with c of the size of x, squares neither overflow nor vanish. The gradient
// at 0, a constant row, is 0: that of sqrt.
Tensor std(const Tensor& x, const Axes& axes, int64_t correction, bool keepdim) {
  detail::check_floating("std", "x", x);
  (void)detail::resolve_axes("std", axes, x.dim());
  if (x.numel() == 0) return sqrt(variance("std", x, axes, correction, keepdim));
  const Tensor c = detail::scale_of(x, axes);
  const Tensor root = sqrt(variance("std", x / c, axes, correction, keepdim));
  return root * (keepdim ? c : reshape(c, root.shape()));
}

}  // namespace fovea
