// Whether a shape that a file names can be one of a tensor. Not public.
#pragma once

#include <cstdint>
#include <optional>

#include "fovea/core/shape.h"

namespace fovea::detail {

/// The number of elements, or nothing where no tensor can have the shape. A size of 0 excuses no
/// other size: strides are products of the others, so these must fit as well.
std::optional<int64_t> elements_of(const Shape& shape);

}  // namespace fovea::detail
