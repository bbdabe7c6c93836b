#include "examples/common/next_command.h"

#include <fmt/format.h>

#include "examples/common/program.h"

namespace fovea::examples {
namespace {

std::string shell_word(const std::string& text) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%@";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace

std::string command(const std::vector<std::string>& arguments) {
  std::string line = shell_word(program_path());
  for (const std::string& a : arguments) line += " " + shell_word(a);
  return line;
}

void leave(const std::string& where, const std::vector<std::string>& arguments) {
  fmt::print("stopped {}; go on with: {}\n", where, command(arguments));
  throw Exit{kInterrupted};
}

}  // namespace fovea::examples
