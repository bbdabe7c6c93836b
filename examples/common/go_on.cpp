#include "examples/common/go_on.h"

#include <fmt/format.h>

#include "examples/common/program.h"
#include "fovea/io/safetensors.h"
#include "fovea/nn/serialize.h"
#include "fovea/optim/checkpoint.h"

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

std::string file_to_go_on_from(const CommonFlags& common, const std::string& checkpoint,
                               const std::string& flag, bool used) {
  if (!checkpoint.empty() && !common.resume.empty()) {
    throw UsageError("--checkpoint: --resume names a file already; leave one of them out");
  }
  if (used && checkpoint.empty() && common.resume.empty()) {
    throw UsageError(fmt::format("{}: needs --checkpoint FILE", flag));
  }
  if (!used && !checkpoint.empty()) {
    throw UsageError(fmt::format("--checkpoint: belongs to {}; to train on, use --resume", flag));
  }
  return checkpoint.empty() ? common.resume : checkpoint;
}

void load_weights(Module& model, const std::string& file) {
  if (read_safetensors(file).find("progress.epoch")) {
    load_part(file, "model", model);
  } else {
    load(model, file);
  }
}

std::string command(const std::vector<std::string>& arguments) {
  std::string line = shell_word(program_path());
  for (const std::string& a : arguments) line += " " + shell_word(a);
  return line;
}

void leave(const std::string& where, const std::string& checkpoint, const std::string& out) {
  fmt::print("stopped {}; go on with: {}\n", where,
             command({"--resume", checkpoint, "--out", out}));
  throw Exit{kInterrupted};
}

}  // namespace fovea::examples
