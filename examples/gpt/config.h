// All that decides the bits of a run, kept in its checkpoints.
#pragma once

#include <cstdint>
#include <string>

#include "examples/common/recorded_flags.h"
#include "fovea/nn/transformer/gpt.h"

namespace fovea::char_gpt {

struct Config {
  std::string text = "/usr/share/common-licenses/GPL-3";  ///< on every Debian machine
  // the model: that of nanoGPT's recipe for a CPU
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t width = 128;
  int64_t context = 64;
  double dropout = 0;
  // training
  uint64_t seed = 1;
  int64_t steps = 2000;
  int64_t batch = 12;
  double lr = 1e-3;
  double min_lr = 1e-4;
  int64_t warm_up = 100;
  double beta2 = 0.99;
  double weight_decay = 0.1;  ///< of matrices
  double clip = 1;
  int64_t eval_every = 250;
  // what is not asked for as a flag: the characters of the text
  std::string characters;

  GPTOptions model(int64_t vocab) const;
  examples::RecordedFlags recorded();
};

/// The settings of a preset: "cpu", the default, or "tiny", which learns in seconds. UsageError
/// for others.
Config preset(const std::string& name);

}  // namespace fovea::char_gpt
