// What a program goes on from: the file, and its weights.
#pragma once

#include <string>

#include "examples/common/flags.h"
#include "fovea/nn/module.h"

namespace fovea::examples {

/// The file that --resume or --checkpoint names, or "". `flag` ("--sample") is what uses a model
/// without training it. UsageError when both are named, when the flag is used without a file, and
/// when --checkpoint is named without the flag.
std::string file_to_go_on_from(const CommonFlags& common, const std::string& checkpoint,
                               const std::string& flag, bool used);
/// The weights of a model.safetensors, or of the model in a checkpoint.safetensors.
void load_weights(Module& model, const std::string& file);

}  // namespace fovea::examples
