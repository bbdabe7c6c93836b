#include "fovea/ops/internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fovea::detail {

void check_defined(const char* op, const char* arg, const Tensor& x) {
  if (x.defined()) return;
  throw ShapeError(
      fmt::format("{}: {} is an undefined tensor; pass one that has a shape", op, arg));
}

void check_defined(const char* op, const char* arg, const Tensors& xs) {
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!xs[i].defined()) check_defined(op, fmt::format("{}[{}]", arg, i).c_str(), xs[i]);
  }
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

void check_rank(const char* op, const char* arg, const Tensor& x, int64_t rank) {
  if (rank <= kMaxRank) return;
  throw ShapeError(
      fmt::format("{}: {} is {}, the result would have {} axes; the limit is {}, merge some with "
                  "reshape",
                  op, arg, x.shape().str(), rank, kMaxRank));
}

void check_value(const char* op, Scalar value, DType dtype) {
  if (dtype != i64 || value.kind != Scalar::Kind::floating) return;
  if (value.real >= -0x1p63 && value.real < 0x1p63) return;
  throw ValueError(fmt::format("{}: value is {}, which i64 cannot hold; use a tensor of floats", op,
                               value.real));
}

void check_eps(const char* op, double eps) {
  if (eps >= 0 && std::isfinite(eps)) return;
  throw ValueError(fmt::format("{}: eps is {}; it must be finite and at least 0", op, eps));
}

void check_affine(const char* op, const char* arg, const Tensor& w, int64_t n, const Tensor& x) {
  if (!w.defined()) return;
  if (w.dim() != 1 || w.numel() != n) {
    throw ShapeError(fmt::format("{}: {} is {}, x is {}; it must be [{}]", op, arg, w.shape().str(),
                                 x.shape().str(), n));
  }
  check_dtype(op, arg, w, x.dtype());
}

Shape broadcast(const char* op, std::initializer_list<Operand> operands) {
  for (const Operand& o : operands) check_defined(op, o.name, o.x);
  Shape shape;
  try {
    for (const Operand& o : operands) shape = broadcast_shapes(op, shape, o.x.shape());
  } catch (const ShapeError&) {
    std::string all;
    for (const Operand& o : operands) {
      all += fmt::format("{}{} is {}", all.empty() ? "" : ", ", o.name, o.x.shape().str());
    }
    throw ShapeError(fmt::format(
        "{}: shapes do not broadcast: {}; sizes must be equal or 1 on every axis, the last aligned",
        op, all));
  }
  shape.numel(op);
  return shape;
}

std::string shape_or_undefined(const Tensor& x) {
  return x.defined() ? x.shape().str() : "undefined";
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
  for (int64_t a : axes.list) out.push_back(normalize_axis(op, a, rank));
  std::sort(out.begin(), out.end());
  for (int i = 1; i < out.rank(); ++i) {
    if (out[i] == out[i - 1]) {
      throw IndexError(fmt::format("{}: axis {} is given twice in {}; name each axis once", op,
                                   out[i], axes.list.str()));
    }
  }
  return rank == 0 ? Shape() : out;
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
