// A step of training, and the learning rate of each, as programs with AdamW take them.
#pragma once

#include <cstdint>

#include "fovea/optim/adam.h"
#include "fovea/optim/schedule.h"

namespace fovea::examples {

/// Rises over `warm_up` steps, then falls along half a cosine to `min_lr` at `steps`.
LrRule warmup_cosine(int64_t steps, int64_t warm_up, double min_lr);

/// Backward, clipped to a norm of `clip`, and a step of both. Gradients must be 0 before. Returns
/// the loss; ValueError, before anything is changed, when that is not finite.
double train_step(const Tensor& loss, AdamW& adam, Schedule& schedule, double clip);

}  // namespace fovea::examples
