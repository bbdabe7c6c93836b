#include "examples/common/train_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"
#include "fovea/optim/clip.h"

namespace fovea::examples {

LrRule warmup_cosine(int64_t steps, int64_t warm_up, double min_lr) {
  const CosineLR fall{.steps = std::max<int64_t>(1, steps - warm_up), .eta_min = min_lr};
  if (warm_up == 0) return fall;
  return WarmUp{.steps = warm_up, .after = fall};
}

double train_step(const Tensor& loss, AdamW& adam, Schedule& schedule, double clip) {
  const double value = loss.item();
  if (!std::isfinite(value)) {
    throw ValueError(
        fmt::format("the loss is {} at step {}; a smaller --lr may help", value, schedule.t()));
  }
  loss.backward();
  clip_grad_norm(adam.parameters(), clip);
  adam.step();
  schedule.step();
  return value;
}

}  // namespace fovea::examples
