// What the writers of operations share. Not public.
#pragma once

#include <limits>

#include "fovea/core/error.h"
#include "fovea/core/node.h"
#include "fovea/core/parallel.h"
#include "fovea/ops/ops.h"

namespace fovea::detail {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

// ---- checks; `arg` is the argument's name in the op's signature
void check_defined(const char* op, const char* arg, const Tensor& x);
void check_defined(const char* op, const char* arg, const Tensors& xs);
void check_floating(const char* op, const char* arg, const Tensor& x);
void check_dtype(const char* op, const char* arg, const Tensor& x, DType want);
/// ShapeError unless a result of `rank` axes, made from x, is within the limit.
void check_rank(const char* op, const char* arg, const Tensor& x, int64_t rank);
/// ValueError unless a tensor of this dtype can hold the number: NaN is no integer.
void check_value(const char* op, Scalar value, DType dtype);
/// ValueError unless 0 <= eps < infinity.
void check_eps(const char* op, double eps);
/// A weight or bias of n elements, in x's dtype; may be undefined.
void check_affine(const char* op, const char* arg, const Tensor& w, int64_t n, const Tensor& x);

struct Operand {
  const char* name;
  const Tensor& x;
};
/// The shape the operands broadcast to, or a ShapeError naming all of them.
Shape broadcast(const char* op, std::initializer_list<Operand> operands);
/// "[2, 3]", or "undefined".
std::string shape_or_undefined(const Tensor& x);

// ---- memory, without recording
/// The elements of x in row-major order: x itself when it is contiguous, else a copy.
Tensor packed(const Tensor& x);
/// dst = src, converted and broadcast to dst's shape; dst may be any view that does not overlap
/// itself.
void copy_into(const Tensor& dst, const Tensor& src);
void fill_with(const Tensor& dst, Scalar value);

/// An empty result like x, contiguous.
inline Tensor empty_as(const Tensor& x) { return Tensor::empty(x.shape(), x.dtype()); }
/// A 0-dim tensor.
Tensor scalar(Scalar value, DType dtype);

/// Dropout by the numbers that the key names; p = 0 is the identity.
Tensor dropout_by_key(const Tensor& x, double p, RandomKey key);

/// Axes as sorted, distinct, non-negative numbers; empty means all. IndexError names the op.
Shape resolve_axes(const char* op, const Axes& axes, int rank);
/// x.shape with the (resolved) axes removed, or of size 1.
Shape reduced_shape(const Shape& shape, const Shape& axes, bool keepdim);

}  // namespace fovea::detail
