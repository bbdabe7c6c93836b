// The commands that go on from what a run has written, as programs print them.
#pragma once

#include <string>
#include <vector>

namespace fovea::examples {

/// The program with these arguments, each between quotes where a shell needs them.
std::string command(const std::vector<std::string>& arguments);
/// "stopped WHERE; go on with: COMMAND", then throws Exit: the end of a run after Ctrl-C.
[[noreturn]] void leave(const std::string& where, const std::vector<std::string>& arguments);

}  // namespace fovea::examples
