// The unrecorded product under matmul and linear. Not public.
#pragma once

#include "fovea/core/tensor.h"

namespace fovea::detail {

/// a (..., M, K) @ b (..., K, N) of one floating dtype. Transposed views are read as they lie. With
/// a `start` (contiguous, of the result's shape) the product is added to it.
Tensor raw_matmul(const char* op, const Tensor& a, const Tensor& b, const Tensor& start = {});

}  // namespace fovea::detail
