// The folder that --out names.
#pragma once

#include <string>

namespace fovea::examples {

/// Makes the folder and tries to write in it, so that hours of training do not end in "permission
/// denied". IoError when it cannot be made or written.
void prepare_out(const std::string& folder);

/// "FOLDER/NAME"
std::string in_folder(const std::string& folder, const std::string& name);

}  // namespace fovea::examples
