// The frame of every program: what main() returns, and what the user reads when something fails.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace fovea::examples {

/// The flags make no sense: exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Ends the program with this code and nothing more to say: after --help, after Ctrl-C.
struct Exit {
  int code = 0;
};

inline constexpr int kFailed = 1;
inline constexpr int kBadFlags = 2;
inline constexpr int kInterrupted = 130;  ///< 128 + SIGINT, as shells count

/// Runs f(argc, argv) and returns the exit code. Whatever is thrown becomes one line on stderr,
/// "PROGRAM: message", and kFailed, or kBadFlags for a UsageError.
int run_program(int argc, char** argv, const std::function<int(int, char**)>& f);

/// The program as the user typed it, to print the next command: "build/bin/glimpse".
const std::string& program_path();

}  // namespace fovea::examples
