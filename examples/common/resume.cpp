#include "examples/common/resume.h"

#include <fmt/format.h>

#include "examples/common/program.h"
#include "fovea/io/safetensors.h"
#include "fovea/nn/serialize.h"
#include "fovea/optim/checkpoint.h"

namespace fovea::examples {

std::string file_to_go_on_from(const CommonFlags& common, const std::string& checkpoint,
                               const std::string& flag, bool used) {
  if (!checkpoint.empty() && !common.resume.empty()) {
    throw UsageError("--checkpoint: --resume names a file already; leave one of them out");
  }
  if (used && checkpoint.empty() && common.resume.empty()) {
    throw UsageError(fmt::format("{}: needs --checkpoint FILE", flag));
  }
  if (!used && !checkpoint.empty()) {
    throw UsageError(fmt::format("--checkpoint: belongs to {}; to train on, use --resume", flag));
  }
  return checkpoint.empty() ? common.resume : checkpoint;
}

void load_weights(Module& model, const std::string& file) {
  if (read_safetensors(file).find("progress.epoch")) {
    load_part(file, "model", model);
  } else {
    load(model, file);
  }
}

}  // namespace fovea::examples
