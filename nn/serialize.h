// A layer to and from a safetensors file, by parameter name. For a whole training run see
// optim/checkpoint.h.
#pragma once

#include <map>
#include <string>

#include "fovea/nn/module.h"

namespace fovea {

/// Writes the parameters and buffers of `m`, a tied tensor once, atomically: `path` holds the old
/// content or the new. IoError when it cannot be written.
void save(const Module& m, const std::string& path,
          const std::map<std::string, std::string>& metadata = {});

/// Reads a file into `m`, in place; returns the file's metadata. Strict: one IoError names the file
/// and lists all missing, extra and mismatched names, shapes and dtypes together, and leaves `m`
/// untouched. Files written by PyTorch's safetensors fit where names and shapes agree.
std::map<std::string, std::string> load(Module& m, const std::string& path);

}  // namespace fovea
