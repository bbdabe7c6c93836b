// The retina: what an eye that looks at one place sees. Mnih 2014, section 3.1, the glimpse sensor.
//
// Sharp in the middle and blurred around it: scale s of S is the square of (P 2^s)^2 pixels around
// the location, averaged down to P x P.
//
//     images   B, H, W      grey images
//     location B, 2         x (to the right) and y (down) in [-1, 1]: -1 and 1 are the edges
//     glimpse  B, S P P     scale by scale, each row-major
#pragma once

#include "fovea/core/tensor.h"

namespace fovea::glimpse {

struct Retina {
  int64_t patch = 8;   ///< P, in pixels
  int64_t scales = 1;  ///< S

  int64_t size() const { return scales * patch * patch; }
  /// The side of the square that scale s covers, in pixels.
  int64_t cover(int64_t s) const { return patch << s; }
};

/// What the retina sees at the locations, f32; beyond the edge there is 0. A step of the data, not
/// of the graph: GraphError when an argument requires a gradient, since where to look is learned by
/// REINFORCE. ShapeError and DTypeError unless f32 (B, H, W) and (B, 2).
Tensor see(const Tensor& images, const Tensor& location, const Retina& retina);

/// The first pixel of the square of `cover` pixels around a coordinate of `location`, on an axis of
/// `size` pixels; may be outside. The centre is at (location + 1) / 2 * size.
int64_t first_pixel(double location, int64_t size, int64_t cover);

}  // namespace fovea::glimpse
