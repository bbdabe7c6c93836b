#include "examples/common/program.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>

namespace fovea::examples {
namespace {

std::string path = "program";  // NOLINT(cert-err58-cpp)

std::string base_name() {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// A message is one line, whatever library wrote it.
int say(std::string message, int code) {
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  for (char& c : message) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  std::fflush(stdout);
  fmt::print(stderr, "{}: {}\n", base_name(), message);
  return code;
}

}  // namespace

const std::string& program_path() { return path; }

int run_program(int argc, char** argv, const std::function<int(int, char**)>& f) {
  if (argc > 0) path = argv[0];
  try {
    const int code = f(argc, argv);
    if (std::fflush(stdout) != 0) return say("the output cannot be written", kFailed);
    return code;
  } catch (const Exit& e) {
    std::fflush(stdout);
    return e.code;
  } catch (const UsageError& e) {
    return say(fmt::format("{}; see {} --help", e.what(), path), kBadFlags);
  } catch (const std::bad_alloc&) {
    return say("out of memory; a smaller --batch needs less", kFailed);
  } catch (const std::exception& e) {
    return say(e.what(), kFailed);
  } catch (...) {
    return say("an unknown error", kFailed);
  }
}

}  // namespace fovea::examples
