#include "fovea/nn/serialize.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/io/safetensors.h"

namespace fovea {

void save(const Module& m, const std::string& path,
          const std::map<std::string, std::string>& metadata) {
  write_safetensors(path, {m.state(), metadata});
}

std::map<std::string, std::string> load(Module& m, const std::string& path) {
  TensorMap file = read_safetensors(path);
  const StateDiff diff = m.check_state(file.tensors);
  if (!diff.ok()) {
    throw IoError(fmt::format(
        "load: {} does not fit the module: {}; load it into the module it was saved from", path,
        diff.str()));
  }
  m.assign_state(file.tensors);
  return std::move(file.metadata);
}

}  // namespace fovea
