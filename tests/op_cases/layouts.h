// The same elements laid out in memory in every way that views can produce.
#pragma once

#include <optional>
#include <vector>

#include "fovea/core/tensor.h"

namespace fovea::cases {

enum class Layout {
  contiguous,
  transposed,     ///< axes in reverse order of memory
  rotated,        ///< the last axis moved to the front of memory
  stepped,        ///< every second element along the last axis, as x[..., ::2]
  stepped_first,  ///< every second row, as x[::2]
  offset,         ///< a window inside a wider tensor, starting at an odd address
  expanded,       ///< stride 0 along the longest axis: the first slice, repeated
  odd_stride,     ///< axes of size 1 carry a stride that means nothing
};
inline constexpr Layout kOddLayouts[] = {Layout::transposed,    Layout::rotated, Layout::stepped,
                                         Layout::stepped_first, Layout::offset,  Layout::expanded,
                                         Layout::odd_stride};
const char* name(Layout layout);

/// A leaf outside the graph with the elements of x (of its first slices, when expanded) in this
/// layout; nothing when x has too few axes for it. Written with plain loops. What lies between the
/// elements is NaN, so that a kernel which reads it shows.
std::optional<Tensor> laid_out(const Tensor& x, Layout layout);

}  // namespace fovea::cases
