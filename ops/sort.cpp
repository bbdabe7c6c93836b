// Order along an axis: sort, argsort, topk, kthvalue, unique.           x: (.., N, ..)
// The order is found once, on the values; the values returned are gathered, so that gy goes back to
// the elements they came from. Equal elements keep their order (stable); NaN counts as largest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/ops/internal.h"

namespace fovea {
namespace {

template <class T>
bool before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return a < b;
}

// Indices of the first k in order, along the last axis of packed rows: (rows, n) -> (rows, k).
template <class T>
void order_rows(const T* x, int64_t* out, int64_t rows, int64_t n, int64_t k, bool descending) {
  parallel_for(rows, grain_for(n * 16), [&](int64_t begin, int64_t end) {
    std::vector<int64_t> at(static_cast<size_t>(n));
    for (int64_t r = begin; r < end; ++r) {
      const T* row = x + r * n;
      std::iota(at.begin(), at.end(), int64_t{0});
      const auto less = [row, descending](int64_t i, int64_t j) {
        if (before(row[i], row[j])) return !descending;
        if (before(row[j], row[i])) return descending;
        return i < j;
      };
      if (k < n) {
        std::partial_sort(at.begin(), at.begin() + k, at.end(), less);
      } else {
        std::sort(at.begin(), at.end(), less);
      }
      std::copy(at.begin(), at.begin() + k, out + r * k);
    }
  });
}

// The first k indices in order along an axis; k < 0 means all.
Tensor order(const char* op, const Tensor& x, int64_t axis, int64_t k, bool descending) {
  detail::check_defined(op, "x", x);
  const int d = normalize_axis(op, axis, x.dim());
  const int64_t n = x.dim() == 0 ? 1 : x.shape()[d];
  if (k < 0) k = n;
  if (k > n) {
    throw IndexError(
        fmt::format("{}: k is {}, axis {} of x {} has {} elements; take no more than those", op, k,
                    d, x.shape().str(), n));
  }
  if (x.dim() == 0) {
    if (k == 0)
      throw ValueError(fmt::format("{}: k is 0, x is []; one element has no axis, take 1", op));
    return zeros({}, i64);
  }
  const Tensor p = detail::packed(transpose(x.detach(), d, -1));
  Shape shape = p.shape();
  shape[shape.rank() - 1] = k;
  Tensor index = Tensor::empty(shape, i64);
  if (index.numel() > 0) {
    visit(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      order_rows(p.data<T>(), index.data<int64_t>(), p.numel() / n, n, k, descending);
    });
  }
  return unrecorded(op, contiguous(transpose(index, d, -1)), {x});
}

ValuesAndIndices chosen(const Tensor& x, int64_t axis, const Tensor& index) {
  return {x.dim() == 0 ? clone(x) : gather(x, axis, index), index};
}

}  // namespace

ValuesAndIndices sort(const Tensor& x, int64_t axis, bool descending) {
  return chosen(x, axis, order("sort", x, axis, -1, descending));
}

Tensor argsort(const Tensor& x, int64_t axis, bool descending) {
  return order("argsort", x, axis, -1, descending);
}

ValuesAndIndices topk(const Tensor& x, int64_t k, int64_t axis, bool largest) {
  detail::check_defined("topk", "x", x);
  if (k < 0) throw ValueError(fmt::format("topk: k is {}; it must be at least 0", k));
  return chosen(x, axis, order("topk", x, axis, k, largest));
}

ValuesAndIndices kthvalue(const Tensor& x, int64_t k, int64_t axis, bool keepdim) {
  detail::check_defined("kthvalue", "x", x);
  if (k < 1) throw ValueError(fmt::format("kthvalue: k is {}; the smallest has k = 1", k));
  const Tensor first = order("kthvalue", x, axis, k, false);
  if (x.dim() == 0) return chosen(x, axis, first);
  const auto [value, index] = chosen(x, axis, narrow(first, axis, k - 1, 1));
  if (keepdim) return {value, contiguous(index)};
  return {squeeze(value, axis), contiguous(squeeze(index, axis))};
}

Tensor unique(const Tensor& x) {
  detail::check_defined("unique", "x", x);
  if (x.is_floating()) {
    throw DTypeError(fmt::format("unique: x is {} {}; integers or bools are needed",
                                 name(x.dtype()), x.shape().str()));
  }
  auto all = x.to_vector<int64_t>();
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  Tensor y = to(from_vector(all, {static_cast<int64_t>(all.size())}), x.dtype());
  return unrecorded("unique", std::move(y), {x});
}

}  // namespace fovea
