// Layouts for reductions. Not public.
#pragma once

#include "fovea/ops/internal.h"

namespace fovea::detail {

/// x as a contiguous (A, R, B) block in which R runs over the reduced axes. B is 1 for rows; the
/// elements move only when the reduced axes do not lie together in memory.
struct Reduction3 {
  Tensor data;
  int64_t a = 1, r = 1, b = 1;
  Shape axes;  ///< resolved
};
Reduction3 reduction_layout(const char* op, const Tensor& x, const Axes& axes);

/// reduce_rows(rows) of (A, R) with one result a row, recorded, where R runs over the reduced axes:
/// how an operation written for rows works over any axes.
Tensor over_axes(const char* op, const Tensor& x, const Axes& axes, bool keepdim,
                 Tensor (*reduce_rows)(const Tensor& rows));

/// A reduction over no element has no value: ShapeError, unless nothing is asked for.
void check_not_empty(const char* op, const Tensor& x, const Reduction3& layout);

/// x less its mean over the axes; recorded.
Tensor deviations(const Tensor& x, const Axes& axes);
/// A power of two near the largest |x| along the axes, kept with size 1, and at least about
/// `at_least`; 1 where that is 0 or not finite. Dividing by it changes no digit, and squares of the
/// quotient stay in range. A constant: outside the graph.
Tensor scale_of(const Tensor& x, const Axes& axes, double at_least = 0);

/// gy (reduced, with or without keepdim) as a view of x's shape; recorded.
Tensor spread(const Tensor& gy, const Shape& shape, const Shape& axes);

}  // namespace fovea::detail
