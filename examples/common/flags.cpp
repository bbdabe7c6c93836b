#include "examples/common/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>

#include "examples/common/program.h"
#include "fovea/core/parallel.h"

namespace fovea::examples {
namespace {

// The number a text is, or NaN.
double number(const std::string& text) {
  char* end = nullptr;
  const double x = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0' ? x : std::nan("");
}

}  // namespace

FlagCheck above(double low) {
  return [low](const std::string& text) {
    const double x = number(text);
    if (std::isfinite(x) && x > low) return std::string();
    return fmt::format("{} is not a number above {}", text, low);
  };
}

FlagCheck between(double low, double high) {
  return [low, high](const std::string& text) {
    const double x = number(text);
    if (x >= low && x <= high) return std::string();
    return fmt::format("{} is not a number from {} to {}", text, low, high);
  };
}

FlagCheck at_least(int64_t low, int64_t high) {
  return [low, high](const std::string& text) {
    char* end = nullptr;
    errno = 0;
    const long long x = std::strtoll(text.c_str(), &end, 10);  // NOLINT(google-runtime-int)
    if (errno == 0 && end != text.c_str() && *end == '\0' && x >= low && x <= high) {
      return std::string();
    }
    return fmt::format("{} is not a whole number from {} to {}", text, low, high);
  };
}

void add_common_flags(CLI::App& app, CommonFlags& flags) {
  app.get_formatter()->column_width(34);
  // Scripts give flags of their own and then pass on their caller's.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  const auto add = [&app](const char* name, auto& value, const char* what) {
    return app.add_option(name, value, what)->capture_default_str()->group("Every program");
  };
  app.get_help_ptr()->group("Every program");
  add("--seed", flags.seed, "Same seed, same bits, on any number of threads");
  add("--threads", flags.threads, "Threads; 0 for one a processor")->check(at_least(0, 1024));
  add("--out", flags.out, "Folder for results")->type_name("DIR");
  if (flags.epochs > 0) {
    add("--epochs", flags.epochs, "Passes over the data")->check(at_least(1, 1 << 20));
  }
  if (flags.steps > 0) add("--steps", flags.steps, "Training steps")->check(at_least(1));
  add("--resume", flags.resume, "Go on from this checkpoint")->type_name("FILE");
  app.add_flag("--quiet", flags.quiet, "Print results only")->group("Every program");
}

void parse_flags(CLI::App& app, int argc, char** argv, const CommonFlags& flags) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    throw Exit{0};
  } catch (const CLI::ParseError& e) {
    throw UsageError(e.what());
  }
  if (flags.out.empty()) throw UsageError("--out: needs the name of a folder");
  if (flags.threads > 0) set_threads(flags.threads);
}

}  // namespace fovea::examples
