// Selecting by mask and writing by index.
#include <fmt/format.h>

#include "fovea/ops/index.h"

namespace fovea {

// The elements where mask holds, in row-major order: their positions are found once, the rest is
// index_select on the flattened tensor.
Tensor masked_select(const Tensor& x, const Tensor& mask) {
  detail::check_defined("masked_select", "x", x);
  detail::check_dtype("masked_select", "mask", mask, boolean);
  const Shape shape = detail::broadcast("masked_select", {{"x", x}, {"mask", mask}});
  const Tensor m = detail::packed(expand(mask, shape));
  std::vector<int64_t> at;
  for (int64_t i = 0; i < m.numel(); ++i) {
    if (m.data<uint8_t>()[i]) at.push_back(i);
  }
  const auto n = static_cast<int64_t>(at.size());
  return index_select(reshape(expand(x, shape), {shape.numel()}), 0, from_vector(at, {n}));
}

// y = x, then y[index] = src, in row-major order of index: the last of equal indices wins.
//   gx = gy, 0 at every written place;  gsrc = gy[index], 0 for a value that was written over
Tensor scatter(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src) {
  detail::check_defined("scatter", "x", x);
  detail::check_defined("scatter", "src", src);
  detail::check_dtype("scatter", "index", index, i64);
  detail::check_dtype("scatter", "src", src, x.dtype());
  const int a = normalize_axis("scatter", axis, x.dim());
  bool fits = x.dim() > 0 && index.dim() == x.dim() && src.dim() == x.dim();
  for (int d = 0; d < x.dim() && fits; ++d) {
    fits = index.shape()[d] <= src.shape()[d] && (d == a || index.shape()[d] <= x.shape()[d]);
  }
  if (!fits) {
    throw ShapeError(
        fmt::format("scatter: x is {}, index is {}, src is {}; of one rank, index must fit into "
                    "src, and into x on every axis but {}",
                    x.shape().str(), index.shape().str(), src.shape().str(), a));
  }
  detail::check_index("scatter", "index", index, x.shape()[a], a, "x", x.shape());
  // Which entry of src ends at each place: its number from 1; 0 marks what stays.
  Tensor winner = zeros({x.numel()}, i64);
  const Tensor places = detail::packed(gather(reshape(arange(x.numel()), x.shape()), axis, index));
  for (int64_t i = 0; i < places.numel(); ++i) {
    winner.data<int64_t>()[places.data<int64_t>()[i]] = i + 1;
  }
  Tensor values = src;
  for (int d = 0; d < src.dim() && d < index.dim(); ++d) {
    values = narrow(values, d, 0, index.shape()[d]);
  }
  if (values.numel() == 0) return clone(x);
  const Tensor at = where(winner > 0, winner - 1, zeros_like(winner));
  const Tensor chosen = index_select(reshape(values, {values.numel()}), 0, at);
  return where(reshape(winner > 0, x.shape()), reshape(chosen, x.shape()), x);
}

// y = x + sum over n of values_n at row index_n.
Tensor index_put_add(const Tensor& x, const Tensor& index, const Tensor& values) {
  detail::check_defined("index_put_add", "x", x);
  detail::check_dtype("index_put_add", "index", index, i64);
  detail::check_dtype("index_put_add", "values", values, x.dtype());
  if (x.dtype() == boolean) {
    throw DTypeError(fmt::format(
        "index_put_add: x {} is bool; numbers are needed, convert with to(i64)", x.shape().str()));
  }
  Shape want = x.shape();
  if (want.rank() > 0) want[0] = index.numel();
  if (x.dim() == 0 || index.dim() != 1 || !(values.shape() == want)) {
    throw ShapeError(
        fmt::format("index_put_add: x is {}, index is {}, values is {}; need x (R, ...), "
                    "index (N), values (N, ...)",
                    x.shape().str(), index.shape().str(), values.shape().str()));
  }
  detail::check_index("index_put_add", "index", index, x.shape()[0], 0, "x", x.shape());
  Shape column = Shape::filled(x.dim(), 1);
  column[0] = index.numel();
  return scatter_add(x, 0, expand(reshape(index, column), want), values);
}

}  // namespace fovea
