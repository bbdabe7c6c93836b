// Picking and adding along one axis by index.
//                      x: (.., N, ..), index, y, gy: (.., n, ..), each index in [0, N)
// gather       y_j = x_index(j)                      gx = zeros; gx_index(j) += gy_j
// scatter_add  y = x; y_index(j) += src_j            gx = gy, gsrc = gather(gy, index)
// saves        the index
// index_select is gather with one index for all columns: stride 0 along every other axis.
#include "fovea/ops/index.h"

#include <fmt/format.h>

#include "fovea/ops/kernels/binary.h"

namespace fovea {
namespace {

using detail::IndexPlan;

template <class T>
void pick(const Tensor& x, const Tensor& index, const Tensor& y, int axis) {
  const IndexPlan p(x, index, y, axis);
  p.over_blocks([&, from = x.data<T>(), ids = index.data<int64_t>(), to = y.data<T>()](
                    const auto& off, int64_t j0, int64_t j1, int64_t i0, int64_t i1) {
    if (p.whole_rows) {
      for (int64_t j = j0; j < j1; ++j) {
        const T* row = from + off[0] + ids[off[1] + j * p.along[1]] * p.along[0];
        std::copy(row + i0, row + i1, to + off[2] + j * p.along[2] + i0);
      }
    } else {
      p.each(j0, j1, i0, i1, [&](int64_t i, int64_t j) {
        const int64_t id = ids[off[1] + j * p.along[1] + i * p.across[1]];
        to[off[2] + j * p.along[2] + i * p.across[2]] =
            from[off[0] + id * p.along[0] + i * p.across[0]];
      });
    }
  });
}

// Entries that meet in one place of y are added in the order of j, on any number of threads.
template <class T>
void put(const Tensor& y, const Tensor& index, const Tensor& src, int axis) {
  const IndexPlan p(y, index, src, axis);
  p.over_columns([&, to = y.data<T>(), ids = index.data<int64_t>(), from = src.data<T>()](
                     const auto& off, int64_t j0, int64_t j1, int64_t i0, int64_t i1) {
    if (p.whole_rows) {
      for (int64_t j = j0; j < j1; ++j) {
        T* row = to + off[0] + ids[off[1] + j * p.along[1]] * p.along[0];
        const T* add = from + off[2] + j * p.along[2];
        if constexpr (std::is_floating_point_v<T>) {
          kernels::add_inplace(row + i0, add + i0, i1 - i0);
        } else {
          for (int64_t i = i0; i < i1; ++i) row[i] += add[i];
        }
      }
    } else {
      p.each(j0, j1, i0, i1, [&](int64_t i, int64_t j) {
        const int64_t id = ids[off[1] + j * p.along[1] + i * p.across[1]];
        to[off[0] + id * p.along[0] + i * p.across[0]] +=
            from[off[2] + j * p.along[2] + i * p.across[2]];
      });
    }
  });
}

// x cut to the index's sizes on every axis but one, where the index need not reach the end.
Tensor beside(const Tensor& x, const Tensor& index, int axis) {
  Shape shape = index.shape();
  shape[axis] = x.shape()[axis];
  return x.alias(shape, x.strides());
}

void add_at(const Tensor& y, int axis, const Tensor& index, const Tensor& src) {
  visit(y.dtype(),
        [&](auto zero) { put<decltype(zero)>(beside(y, index, axis), index, src, axis); });
}

Tensor gathered(const Tensor& x, int axis, const Tensor& index);

// Zeros of `shape` with src added at index: the transpose of gathered().
Tensor scattered(const Shape& shape, int axis, const Tensor& index, const Tensor& src) {
  Tensor y = zeros(shape, src.dtype());
  add_at(y, axis, index, src);
  return record("gather_backward", std::move(y), {src}, {save_input("index", index)},
                [axis](const Saved& s, const Tensor& gy) { return gathered(gy, axis, s[0]); });
}

Tensor gathered(const Tensor& x, int axis, const Tensor& index) {
  Tensor y = Tensor::empty(index.shape(), x.dtype());
  visit(x.dtype(),
        [&](auto zero) { pick<decltype(zero)>(beside(x, index, axis), index, y, axis); });
  return record("gather", std::move(y), {x}, {save_input("index", index)},
                [axis, shape = x.shape()](const Saved& s, const Tensor& gy) {
                  return scattered(shape, axis, s[0], gy);
                });
}

int check_operands(const char* op, const Tensor& x, int64_t axis, const Tensor& index) {
  detail::check_defined(op, "x", x);
  detail::check_dtype(op, "index", index, i64);
  if (x.dim() > 0) return normalize_axis(op, axis, x.dim());
  throw ShapeError(fmt::format("{}: x is [], index is {}; x has no axis to index, unsqueeze() it",
                               op, index.shape().str()));
}

// The index may be smaller than x on the other axes, as in PyTorch.
int check_ranks(const char* op, const Tensor& x, int64_t axis, const Tensor& index) {
  const int a = check_operands(op, x, axis, index);
  bool fits = index.dim() == x.dim();
  for (int d = 0; d < x.dim() && fits; ++d) fits = d == a || index.shape()[d] <= x.shape()[d];
  if (!fits) {
    throw ShapeError(
        fmt::format("{}: index is {}, x is {}; index must have as many axes, and be no longer on "
                    "any but axis {}",
                    op, index.shape().str(), x.shape().str(), a));
  }
  detail::check_index(op, "index", index, x.shape()[a], a, "x", x.shape());
  return a;
}

}  // namespace

Tensor gather(const Tensor& x, int64_t axis, const Tensor& index) {
  return gathered(x, check_ranks("gather", x, axis, index), index);
}

Tensor scatter_add(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src) {
  const int a = check_ranks("scatter_add", x, axis, index);
  detail::check_dtype("scatter_add", "src", src, x.dtype());
  if (x.dtype() == boolean) {
    throw DTypeError(fmt::format(
        "scatter_add: x {} and src {} are bool; numbers are needed, convert with to(i64)",
        x.shape().str(), src.shape().str()));
  }
  Tensor part = src;
  for (int d = 0; d < x.dim(); ++d) {
    if (src.dim() != x.dim() || src.shape()[d] < index.shape()[d]) {
      throw ShapeError(fmt::format(
          "scatter_add: x is {}, index is {}, src is {}; index must fit into src on every axis",
          x.shape().str(), index.shape().str(), src.shape().str()));
    }
    if (src.shape()[d] > index.shape()[d]) part = narrow(part, d, 0, index.shape()[d]);
  }
  Tensor y = detail::empty_as(x);
  detail::copy_into(y, x);
  add_at(y, a, index, part);
  return record("scatter_add", std::move(y), {x, part}, {save_input("index", index)},
                [a](const Saved& s, const Tensor& gy) {
                  return grads(gy, s.wants(1) ? gathered(gy, a, s[0]) : Tensor());
                });
}

Tensor index_select(const Tensor& x, int64_t axis, const Tensor& index) {
  const int a = check_operands("index_select", x, axis, index);
  if (index.dim() > 1) {
    throw ShapeError(
        fmt::format("index_select: index is {}, x is {}; index must have one axis, or none",
                    index.shape().str(), x.shape().str()));
  }
  detail::check_index("index_select", "index", index, x.shape()[a], a, "x", x.shape());
  Shape shape = x.shape();
  shape[a] = index.numel();
  Strides strides = Shape::filled(x.dim(), 0);
  strides[a] = index.dim() > 0 ? index.strides()[0] : 0;
  return gathered(x, a, index.alias(shape, strides));
}

}  // namespace fovea
