#include "fovea/io/elements.h"

#include "fovea/core/error.h"

namespace fovea::detail {

std::optional<int64_t> elements_of(const Shape& shape) {
  try {
    return shape.numel("elements_of");
  } catch (const ShapeError&) {
    return std::nullopt;
  }
}

}  // namespace fovea::detail
