// Tensors as text, in PyTorch's manner.
#pragma once

#include <iosfwd>
#include <string>

#include "fovea/core/tensor.h"

namespace fovea {

struct PrintOptions {
  int precision = 4;         ///< digits after the point
  int64_t threshold = 1000;  ///< more elements than this are summarised
  int64_t edge_items = 3;    ///< how many stay at each end of an axis
  int line_width = 80;       ///< characters
};

/// `tensor([[1., 2.], [3., 4.]])`, with dtype and node where they are not the default. An undefined
/// tensor prints as `tensor(undefined)`.
std::string to_string(const Tensor& t, const PrintOptions& options = {});

}  // namespace fovea
