// What the losses share. Not public.
#pragma once

#include "fovea/ops/ops.h"

namespace fovea::detail {

/// The targets as a contiguous (N). ShapeError, DTypeError or IndexError unless x is floating (...,
/// V) and target is i64 (...) with classes in [0, V) or ignore_index.
Tensor check_targets(const char* op, const char* arg, const Tensor& x, const Tensor& target,
                     int64_t ignore_index);
/// The class weights packed and in x's dtype, undefined when there are none. ShapeError unless (V),
/// GraphError when a gradient is wanted for them.
Tensor check_class_weight(const char* op, const Tensor& weight, const char* arg, const Tensor& x);
/// Losses (N) -> their mean over the targets that count, each by its class weight, their sum, or
/// `shape`. The mean over none is 0.
Tensor reduce_targets(const Tensor& loss, const Tensor& ids, const Tensor& weight,
                      const Shape& shape, int64_t ignore_index, Reduction r);
/// Elementwise losses, reduced.
Tensor reduce(const Tensor& loss, Reduction r);

}  // namespace fovea::detail
