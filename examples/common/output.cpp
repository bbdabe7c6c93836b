#include "examples/common/output.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/io/file.h"

namespace fovea::examples {

void prepare_out(const std::string& folder) {
  try {
    make_dirs(folder);
    // Without commit() the file vanishes again.
    AtomicFile probe(in_folder(folder, "probe"));
    probe.write("x");
  } catch (const IoError& e) {
    throw IoError(fmt::format("--out {}: results cannot be written there: {}", folder, e.what()));
  }
}

std::string in_folder(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.back() == '/' ? folder + name : folder + "/" + name;
}

}  // namespace fovea::examples
