// The clocks that sinusoidal and rotary positions share. Not for users: see those.
#pragma once

#include "fovea/core/tensor.h"

namespace fovea::detail {

/// f64 (T, n): (offset + t) / base^(2i / dim) for i in [0, n). ValueError, in the name of `op`, for
/// a negative t or offset.
Tensor clock_angles(const char* op, int64_t t, int64_t offset, int64_t n, int64_t dim, double base);

/// ShapeError, in the name of `op`, unless x is floating (..., T, dim).
void check_sequence(const char* op, const char* arg, const Tensor& x, int64_t dim);

}  // namespace fovea::detail
