// The fused walks over time of recurrent layers; not public. See recurrent_walk.cpp.
#pragma once

#include "fovea/ops/recurrent.h"

namespace fovea::detail {

/// Whether x (B, T, I) is a view of a contiguous (T, B, I): then all that has a row a step lies in
/// that order, so that x need not be copied.
bool time_comes_first(const Tensor& x);

/// The result, and the planes (B, T, P H) after activation. y and keep of `s` are not read.
struct WalkedForward {
  Tensor y, planes;
};
WalkedForward walk_forward(const RecurrentKind& kind, const RecurrentSaved& s,
                           const Tensor& lengths);

/// The rule of the cell, fused, with the gradient of x as well, laid out as x is, if wanted.
RecurrentGradients walk_backward(const RecurrentKind& kind, const RecurrentSaved& s,
                                 const Tensor& lengths, const Tensor& planes, bool time_first,
                                 const Tensor& gy, Tensor* gx);

}  // namespace fovea::detail
