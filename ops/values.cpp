// Tensors from numbers the caller has: nested lists, vectors, arrays.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/ops/internal.h"

namespace fovea {
namespace {

// The sizes along the first element of every level.
Shape shape_of(const Values& v) {
  Shape shape;
  const Values* level = &v;
  while (level->is_list) {
    if (shape.rank() == kMaxRank) {
      throw ShapeError(
          fmt::format("tensor: values are lists nested more than {} deep; the limit is "
                      "{} axes, merge some",
                      kMaxRank, kMaxRank));
    }
    shape.push_back(static_cast<int64_t>(level->list.size()));
    if (level->list.empty()) break;
    level = &level->list.front();
  }
  return shape;
}

// Appends the numbers of v in row-major order.
void flatten_into(const Values& v, const Shape& shape, int depth, std::vector<Scalar>& out) {
  const bool inner = depth < shape.rank();
  if (v.is_list != inner) {
    throw ShapeError(
        fmt::format("tensor: values mix numbers and lists at depth {}; by the first elements the "
                    "shape is {}, give every list that form",
                    depth, shape.str()));
  }
  if (!inner) {
    out.push_back(v.number);
    return;
  }
  if (static_cast<int64_t>(v.list.size()) != shape[depth]) {
    throw ShapeError(
        fmt::format("tensor: rows differ in length: a list of values at depth {} has {} elements, "
                    "the first has {}; make them equal",
                    depth, v.list.size(), shape[depth]));
  }
  for (const Values& row : v.list) flatten_into(row, shape, depth + 1, out);
}

// The narrowest of bool, i64 and f32 that holds every number; f32 for an empty list.
DType dtype_for(const std::vector<Scalar>& numbers) {
  if (numbers.empty()) return f32;
  DType t = boolean;
  for (const Scalar& s : numbers) t = s.promoted(t);
  return t;
}

Tensor from_numbers(const std::vector<Scalar>& numbers, const Shape& shape, DType dtype) {
  for (const Scalar& s : numbers) detail::check_value("tensor", s, dtype);
  Tensor y = Tensor::empty(shape, dtype);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    std::transform(numbers.begin(), numbers.end(), y.data<T>(), [](const Scalar& s) {
      if constexpr (std::is_same_v<T, uint8_t>) {
        return static_cast<uint8_t>(s.real != 0);
      } else {
        return s.as<T>();
      }
    });
  });
  return y;
}

// What a tensor stores for elements of T.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, int>, int64_t,
                                  std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;

template <class T, class It>
Tensor copy_from(It first, const Shape& shape) {
  using S = Stored<T>;
  Tensor y = Tensor::empty(shape, dtype_of<S>());
  std::transform(first, first + y.numel(), y.data<S>(), [](T v) {
    if constexpr (std::is_same_v<S, uint8_t>) {
      return static_cast<S>(v != 0);
    } else {
      return static_cast<S>(v);
    }
  });
  return y;
}

}  // namespace

Tensor tensor(const Values& values) {
  const Shape shape = shape_of(values);
  std::vector<Scalar> numbers;
  flatten_into(values, shape, 0, numbers);
  return from_numbers(numbers, shape, dtype_for(numbers));
}

Tensor tensor(const Values& values, DType dtype) {
  const Shape shape = shape_of(values);
  std::vector<Scalar> numbers;
  flatten_into(values, shape, 0, numbers);
  return from_numbers(numbers, shape, dtype);
}

template <class T>
Tensor from_data(const T* values, const Shape& shape) {
  const int64_t n = shape.numel("from_data");
  if (!values && n > 0) {
    throw ValueError(fmt::format(
        "from_data: values is null, shape is {}; it must point to {} elements", shape.str(), n));
  }
  return copy_from<T>(values, shape);
}

template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape) {
  if (shape.numel("from_vector") != static_cast<int64_t>(values.size())) {
    throw ShapeError(
        fmt::format("from_vector: shape is {} with {} elements, values has {}; need as many",
                    shape.str(), shape.numel(), values.size()));
  }
  return copy_from<T>(values.begin(), shape);
}

#define FOVEA_FROM(T)                                   \
  template Tensor from_data<T>(const T*, const Shape&); \
  template Tensor from_vector<T>(const std::vector<T>&, const Shape&);
FOVEA_FROM(float)
FOVEA_FROM(double)
FOVEA_FROM(int64_t)
FOVEA_FROM(int)
FOVEA_FROM(bool)
FOVEA_FROM(uint8_t)
#undef FOVEA_FROM

}  // namespace fovea
