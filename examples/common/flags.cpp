#include "examples/common/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
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

FlagCheck above(double low, double high) {
  return [low, high](const std::string& text) {
    const double x = number(text);
    if (std::isfinite(x) && x > low && x <= high) return std::string();
    return high < 1e300 ? fmt::format("{} is not a number above {}, up to {}", text, low, high)
                        : fmt::format("{} is not a number above {}", text, low);
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

FlagCheck one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
    return fmt::format("{} is none of {}", text, fmt::join(words, ", "));
  };
}

const Flag& Flag::check(const FlagCheck& f) const {
  option_->check(f);
  return *this;
}
const Flag& Flag::type_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

Flags::Flags(const std::string& what) : app_(std::make_unique<CLI::App>(what)) {
  app_->get_formatter()->column_width(34);
  // Scripts give flags of their own and then pass on their caller's.
  app_->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}
Flags::~Flags() = default;

Flag Flags::add(const std::string& name, bool& value, const std::string& what) {
  return Flag(app_->add_flag(name, value, what));
}
Flag Flags::add(const std::string& name, int& value, const std::string& what) {
  return Flag(app_->add_option(name, value, what)->capture_default_str());
}
Flag Flags::add(const std::string& name, int64_t& value, const std::string& what) {
  return Flag(app_->add_option(name, value, what)->capture_default_str());
}
Flag Flags::add(const std::string& name, uint64_t& value, const std::string& what) {
  return Flag(app_->add_option(name, value, what)->capture_default_str());
}
Flag Flags::add(const std::string& name, double& value, const std::string& what) {
  return Flag(app_->add_option(name, value, what)->capture_default_str());
}
Flag Flags::add(const std::string& name, std::string& value, const std::string& what) {
  CLI::Option* option = app_->add_option(name, value, what);
  return Flag(value.empty() ? option : option->capture_default_str());
}
Flag Flags::add(const std::string& name, std::vector<std::string>& value, const std::string& what) {
  return Flag(app_->add_option(name, value, what)
                  ->delimiter(',')
                  ->expected(1)
                  ->allow_extra_args(false)
                  ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
}
void Flags::group(const std::string& name) { app_->option_defaults()->group(name); }
void Flags::footer(const std::string& text) { app_->footer(text); }

void Flags::add_common(CommonFlags& flags) {
  common_ = &flags;
  const auto before = app_->get_options();
  add("--seed", flags.seed, "Same seed, same bits, on any number of threads");
  add("--threads", flags.threads, "Threads; 0 for one a processor").check(at_least(0, 1024));
  add("--out", flags.out, "Folder for results").type_name("DIR");
  if (flags.epochs > 0) {
    add("--epochs", flags.epochs, "Passes over the data").check(at_least(1, 1 << 20));
  }
  if (flags.steps > 0) add("--steps", flags.steps, "Training steps").check(at_least(1));
  add("--resume", flags.resume, "Go on from this checkpoint").type_name("FILE");
  add("--quiet", flags.quiet, "Print results only");
  for (CLI::Option* option : app_->get_options()) {
    if (std::find(before.begin(), before.end(), option) == before.end()) {
      option->group("Every program");
    }
  }
  app_->get_help_ptr()->group("Every program");
}

bool Flags::parse(int argc, char** argv, bool show_help) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    if (!show_help) return false;
    fmt::print("{}", app_->help());
    throw Exit{0};
  } catch (const CLI::ParseError& e) {
    throw UsageError(e.what());
  }
  if (!common_) return true;
  if (common_->out.empty()) throw UsageError("--out: needs the name of a folder");
  if (!common_->resume.empty() && common_->epochs == 0 && common_->steps == 0) {
    throw UsageError("--resume: nothing is trained here");
  }
  if (common_->threads > 0) set_threads(common_->threads);
  return true;
}

bool Flags::given(const std::string& name) const { return app_->count(name) > 0; }

std::set<std::string> Flags::all_given() const {
  std::set<std::string> names;
  for (const CLI::Option* option : app_->get_options()) {
    if (option->count() > 0) names.insert(option->get_name());
  }
  return names;
}

}  // namespace fovea::examples
