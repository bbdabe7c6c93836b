#include "examples/glimpse/config.h"

namespace fovea::glimpse {

ModelOptions Config::model() const {
  return {.retina = {.patch = patch, .scales = scales},
          .glimpses = glimpses,
          .hidden = hidden,
          .classes = 10,
          .std = std,
          .start = start == "centre" ? Start::centre : Start::uniform};
}

examples::RecordedFlags Config::recorded() {
  examples::RecordedFlags flags("glimpse");
  flags.add_free("data", data).add_free("epochs", epochs).add_free("mc-samples", mc_samples);
  flags.add("dataset", dataset).add("glimpses", glimpses).add("patch", patch).add("scales", scales);
  flags.add("hidden", hidden).add("std", std).add("start", start).add("seed", seed);
  flags.add("batch", batch).add("lr", lr).add("schedule", schedule);
  flags.add("policy-weight", policy_weight).add("clip", clip).add("location_lr", location_lr);
  flags.add("duplicates", duplicates);
  return flags;
}

}  // namespace fovea::glimpse
