#include "fovea/ops/internal.h"

#include <fmt/format.h>

#include <algorithm>

namespace fovea::detail {

void check_defined(const char* op, const char* arg, const Tensor& x) {
  if (!x.defined()) throw ShapeError(fmt::format("{}: {} is an undefined tensor", op, arg));
}

void check_floating(const char* op, const char* arg, const Tensor& x) {
  check_defined(op, arg, x);
  if (x.is_floating()) return;
  throw DTypeError(fmt::format("{}: {} is {} {}; floats are needed, convert with to(f32)", op, arg,
                               name(x.dtype()), x.shape().str()));
}

void check_dtype(const char* op, const char* arg, const Tensor& x, DType want) {
  check_defined(op, arg, x);
  if (x.dtype() == want) return;
  throw DTypeError(fmt::format("{}: {} is {} {}; {} is needed", op, arg, name(x.dtype()),
                               x.shape().str(), name(want)));
}

Tensor scalar(Scalar value, DType dtype) {
  Tensor t = Tensor::empty({}, dtype);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, uint8_t>) {
      *t.data<T>() = value.real != 0;
    } else {
      *t.data<T>() = value.as<T>();
    }
  });
  return t;
}

Shape resolve_axes(const char* op, const Axes& axes, int rank) {
  Shape out;
  if (axes.list.empty()) {
    for (int d = 0; d < rank; ++d) out.push_back(d);
    return out;
  }
  if (rank == 0) {
    for (int64_t a : axes.list) normalize_axis(op, a, 0);
    return out;
  }
  for (int64_t a : axes.list) out.push_back(normalize_axis(op, a, rank));
  std::sort(out.begin(), out.end());
  for (int i = 1; i < out.rank(); ++i) {
    if (out[i] == out[i - 1]) {
      throw IndexError(
          fmt::format("{}: axis {} is given twice in {}", op, out[i], axes.list.str()));
    }
  }
  return out;
}

Shape reduced_shape(const Shape& shape, const Shape& axes, bool keepdim) {
  Shape out;
  int next = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool gone = next < axes.rank() && axes[next] == d;
    if (gone) ++next;
    if (!gone) {
      out.push_back(shape[d]);
    } else if (keepdim) {
      out.push_back(1);
    }
  }
  return out;
}

}  // namespace fovea::detail
