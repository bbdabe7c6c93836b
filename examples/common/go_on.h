// Going on from what an earlier run has written, and the commands that do: what all programs that
// train say and ask for in the same way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

/// The program with these arguments, each between quotes where a shell needs them.
std::string command(const std::vector<std::string>& arguments);
/// "stopped WHERE; go on with: COMMAND", then throws Exit: the end of a run after Ctrl-C.
[[noreturn]] void leave(const std::string& where, const std::string& checkpoint,
                        const std::string& out);

}  // namespace fovea::examples
