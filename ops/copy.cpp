// Moving elements: contiguous, clone and dtype conversion.          x, y, gy, gx: any one shape
// forward   y_i = x_i, converted
// backward  gx_i = gy_i, converted back
// saves     nothing
#include <algorithm>
#include <cstring>

#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/convert.h"

namespace fovea {
namespace detail {
namespace {

constexpr int64_t kCopyChunk = 32768;  // elements a task

// Rows of one dtype; one of the two has stride 1 in most layouts that matter.
template <class T>
void copy_row(const T* src, int64_t ss, T* dst, int64_t ds, int64_t n) {
  if (ss == 1 && ds == 1) {
    std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(T));
  } else {
    kernels::strided_copy(src, ss, dst, ds, n);
  }
}

// The last two axes of a transposed view, one matrix after the other: strides (1, s) into (c, 1).
template <class T>
void copy_transposed(const T* src, T* dst, const Collapsed<2>& c) {
  const int d = c.rank;
  const int64_t rows = c.sizes[d - 2];
  const int64_t cols = c.sizes[d - 1];
  int64_t batch = 1;
  for (int i = 0; i < d - 2; ++i) batch *= c.sizes[i];
  constexpr int64_t kPanel = 64;  // rows of dst that a task writes
  const int64_t panels = (rows + kPanel - 1) / kPanel;
  const int64_t group = std::max<int64_t>(1, kCopyChunk / std::max<int64_t>(1, kPanel * cols));
  parallel_for(batch * panels, group, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const auto off = c.row_offsets(t / panels * rows);
      const int64_t first = t % panels * kPanel;
      const int64_t n = std::min(kPanel, rows - first);
      // dst[r * cols + k] = src[k * s + r]: k are the source's rows
      kernels::transpose_copy(src + off[0] + first, c.strides[0][d - 1],
                              dst + off[1] + first * c.strides[1][d - 2], c.strides[1][d - 2], cols,
                              n);
    }
  });
}

template <class T>
void copy_same(const T* src, T* dst, const Collapsed<2>& c) {
  const int64_t n = c.row_length();
  const int last = c.rank - 1;
  const int64_t ss = c.strides[0][last];
  const int64_t ds = c.strides[1][last];
  if (c.rank >= 2 && ds == 1 && ss != 1 && c.strides[0][last - 1] == 1 && n >= 8 &&
      c.sizes[last - 1] >= 8) {
    return copy_transposed(src, dst, c);
  }
  if (c.rows == 1) {
    parallel_for(n, kCopyChunk, [&](int64_t b, int64_t e) {
      copy_row(src + b * ss, ss, dst + b * ds, ds, e - b);
    });
    return;
  }
  parallel_for(c.rows, std::max<int64_t>(1, kCopyChunk / std::max<int64_t>(1, n)),
               [&](int64_t b, int64_t e) {
                 for (int64_t r = b; r < e; ++r) {
                   const auto off = c.row_offsets(r);
                   copy_row(src + off[0], ss, dst + off[1], ds, n);
                 }
               });
}

Tensor converted(const Tensor& x, DType dtype) {
  const Tensor p = packed(x);
  Tensor y = Tensor::empty(x.shape(), dtype);
  visit(x.dtype(), [&](auto from) {
    visit(dtype, [&](auto to) {
      const auto* src = p.data<decltype(from)>();
      auto* dst = y.data<decltype(to)>();
      parallel_for(x.numel(), kCopyChunk,
                   [&](int64_t b, int64_t e) { kernels::convert(src + b, dst + b, e - b); });
    });
  });
  return y;
}

}  // namespace

void copy_into(const Tensor& dst, const Tensor& src) {
  if (src.dtype() != dst.dtype()) return copy_into(dst, converted(src, dst.dtype()));
  if (dst.numel() == 0) return;
  const Strides from = broadcast_strides(src.shape(), src.strides(), dst.shape());
  const auto c = collapse<2>(dst.shape(), {&from, &dst.strides()});
  switch (item_size(dst.dtype())) {
    case 1:
      return copy_same(src.data<uint8_t>(), dst.data<uint8_t>(), c);
    case 4:
      return copy_same(src.data<float>(), dst.data<float>(), c);
    default:  // only the bits move
      return copy_same(reinterpret_cast<const int64_t*>(src.raw()),
                       reinterpret_cast<int64_t*>(dst.raw()), c);
  }
}

void fill_with(const Tensor& dst, Scalar value) {
  if (!dst.is_contiguous()) return copy_into(dst, scalar(value, dst.dtype()));
  const Tensor v = scalar(value, dst.dtype());
  visit(dst.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* p = dst.data<T>();
    const T x = *v.data<T>();
    parallel_for(dst.numel(), kCopyChunk,
                 [&](int64_t b, int64_t e) { kernels::fill(p + b, x, e - b); });
  });
}

Tensor packed(const Tensor& x) {
  if (x.is_contiguous()) return x;
  Tensor y = empty_as(x);
  copy_into(y, x);
  return y;
}

}  // namespace detail

Tensor clone(const Tensor& x) {
  detail::check_defined("clone", "x", x);
  Tensor y = detail::empty_as(x);
  detail::copy_into(y, x);
  return record("clone", std::move(y), {x}, {}, [](const Saved&, const Tensor& gy) { return gy; });
}

Tensor contiguous(const Tensor& x) {
  detail::check_defined("contiguous", "x", x);
  return x.is_contiguous() ? x : clone(x);
}

Tensor to(const Tensor& x, DType dtype) {
  detail::check_defined("to", "x", x);
  if (x.dtype() == dtype) return x;
  // The engine converts a gradient to its input's dtype.
  return record("to", detail::converted(x, dtype), {x}, {},
                [](const Saved&, const Tensor& gy) { return gy; });
}

}  // namespace fovea
