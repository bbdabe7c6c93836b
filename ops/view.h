// Parts of a tensor, as the vjps of other operations use them. Not public.
#pragma once

#include "fovea/core/tensor.h"

namespace fovea::detail {

/// Elements start, start + step, ... (length of them) along one axis: the primitive under slice,
/// narrow, select and split.
struct Part {
  int axis = 0;
  int64_t start = 0;
  int64_t length = 0;
  int64_t step = 1;
};
Tensor take_part(const Tensor& x, const Part& part);
/// Zeros of `shape` with x at the part: the transpose of take_part.
Tensor place_part(const Tensor& x, const Shape& shape, const Part& part);

}  // namespace fovea::detail
