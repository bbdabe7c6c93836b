// Limits gradients before a step. Pascanu 2013, "On the difficulty of training recurrent neural
// networks", algorithm 1.
#pragma once

#include "fovea/core/tensor.h"

namespace fovea {

struct ClipOptions {
  double norm_type = 2;  ///< p of the p-norm, > 0; infinity for the largest magnitude
  bool error_if_nonfinite = false;
};

/// The norm of all gradients taken as one vector, as they were. When it exceeds max_norm, every
/// gradient is scaled by max_norm / norm, in place. Parameters without a gradient are skipped; one
/// listed twice counts once.
///
/// Sums run in double and rescale where squares would overflow: [1e30, 1e30] in f32 has the norm
/// 1.414e30. A NaN or infinite gradient makes the result NaN or infinite: check it with
/// std::isfinite, or set error_if_nonfinite for a ValueError; either way no gradient is touched.
/// ValueError unless max_norm >= 0 and norm_type > 0. Unlike PyTorch, which divides by norm + 1e-6,
/// the clipped norm is max_norm up to rounding.
double clip_grad_norm(const Tensors& params, double max_norm, const ClipOptions& o = {});

/// Limits every element of every gradient to [-value, value]; NaN stays NaN. ValueError unless
/// value >= 0.
void clip_grad_value(const Tensors& params, double value);

}  // namespace fovea
