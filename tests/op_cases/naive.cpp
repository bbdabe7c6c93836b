#include "tests/op_cases/naive.h"

#include <algorithm>

namespace fovea::cases {

int64_t NaiveTensor::offset(const Shape& index) const {
  int64_t at = 0;
  const int skip = index.rank() - shape.rank();
  for (int d = 0; d < shape.rank(); ++d) at = at * shape[d] + (shape[d] == 1 ? 0 : index[d + skip]);
  return at;
}

NaiveTensor filled(const Shape& shape, double value) {
  return {shape, std::vector<double>(static_cast<size_t>(shape.numel()), value)};
}

void each_index(const Shape& shape, const std::function<void(const Shape&)>& f) {
  const int64_t n = shape.numel();
  Shape index = Shape::filled(shape.rank(), 0);
  for (int64_t i = 0; i < n; ++i) {
    f(index);
    for (int d = shape.rank() - 1; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
  }
}

NaiveTensor build(const Shape& shape, const std::function<double(const Shape&)>& f) {
  NaiveTensor y{shape, {}};
  y.data.reserve(static_cast<size_t>(shape.numel()));
  each_index(shape, [&](const Shape& i) { y.data.push_back(f(i)); });
  return y;
}

NaiveTensor map(const NaiveTensor& x, const std::function<double(double)>& f) {
  NaiveTensor y = x;
  for (double& v : y.data) v = f(v);
  return y;
}

NaiveTensor zip(const NaiveTensor& a, const NaiveTensor& b,
                const std::function<double(double, double)>& f) {
  return build(broadcast_shapes("zip", a.shape, b.shape),
               [&](const Shape& i) { return f(a.at(i), b.at(i)); });
}

NaiveTensor fold(const NaiveTensor& x, const std::vector<int64_t>& axes, bool keep,
                 const std::function<double(const Values1d&)>& f) {
  const int rank = x.shape.rank();
  std::vector<bool> gone(static_cast<size_t>(rank), axes.empty());
  for (int64_t a : axes) gone[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  Shape kept = x.shape, out;
  for (int d = 0; d < rank; ++d) {
    if (gone[d]) kept[d] = 1;
    if (!gone[d] || keep) out.push_back(kept[d]);
  }
  NaiveTensor slots = filled(kept, 0);
  std::vector<Values1d> lines(slots.data.size());
  for (size_t i = 0; i < lines.size(); ++i) slots.data[i] = static_cast<double>(i);
  each_index(x.shape,
             [&](const Shape& i) { lines[static_cast<size_t>(slots.at(i))].push_back(x.at(i)); });
  NaiveTensor y{out, {}};
  for (const Values1d& line : lines) y.data.push_back(f(line));
  return y;
}

NaiveTensor along(const NaiveTensor& x, int64_t axis,
                  const std::function<Values1d(const Values1d&)>& f) {
  const int a = static_cast<int>(axis < 0 ? axis + x.shape.rank() : axis);
  const int64_t n = x.shape[a];
  Shape outer = x.shape, out = x.shape;
  outer[a] = 1;
  NaiveTensor y;
  each_index(outer, [&](const Shape& base) {
    Values1d line;
    Shape i = base;
    for (i[a] = 0; i[a] < n; ++i[a]) line.push_back(x.at(i));
    const Values1d result = f(line);
    if (y.data.empty()) {
      out[a] = static_cast<int64_t>(result.size());
      y = filled(out, 0);
    }
    for (i[a] = 0; i[a] < out[a]; ++i[a]) y.at(i) = result[static_cast<size_t>(i[a])];
  });
  if (y.data.empty()) {  // no line: ask f for the length with zeros
    out[a] = static_cast<int64_t>(f(Values1d(static_cast<size_t>(n), 0.0)).size());
    y = filled(out, 0);
  }
  return y;
}

NaiveTensor matmul(const NaiveTensor& a0, const NaiveTensor& b0) {
  NaiveTensor a = a0, b = b0;
  const bool row = a.shape.rank() == 1, column = b.shape.rank() == 1;
  if (row) a.shape.insert(0, 1);
  if (column) b.shape.push_back(1);
  const int ra = a.shape.rank(), rb = b.shape.rank();
  const int64_t m = a.shape[ra - 2], k = a.shape[ra - 1], n = b.shape[rb - 1];
  Shape batch_a(a.shape.begin(), ra - 2), batch_b(b.shape.begin(), rb - 2);
  Shape out = broadcast_shapes("matmul", batch_a, batch_b);
  out.push_back(m);
  out.push_back(n);
  NaiveTensor y = build(out, [&](const Shape& i) {
    Shape ia = i, ib = i;
    const int last = out.rank() - 1;
    double sum = 0;
    for (int64_t j = 0; j < k; ++j) {
      ia[last] = j;
      ib[last - 1] = j;
      sum += a.at(ia) * b.at(ib);
    }
    return sum;
  });
  if (column) y.shape.erase(y.shape.rank() - 1);
  if (row) y.shape.erase(y.shape.rank() - (column ? 1 : 2));
  return y;
}

NaiveTensor permute(const NaiveTensor& x, const std::vector<int64_t>& order) {
  Shape out;
  const int rank = x.shape.rank();
  const auto axis = [rank](int64_t a) { return static_cast<int>(a < 0 ? a + rank : a); };
  for (int64_t a : order) out.push_back(x.shape[axis(a)]);
  return build(out, [&](const Shape& i) {
    Shape from = x.shape;
    for (int d = 0; d < rank; ++d) from[axis(order[static_cast<size_t>(d)])] = i[d];
    return x.at(from);
  });
}

NaiveTensor reshape(const NaiveTensor& x, const Shape& shape) { return {shape, x.data}; }

}  // namespace fovea::cases
