// Training, with samples on the way.
#pragma once

#include <string>

#include "examples/common/flags.h"
#include "examples/common/progress_bar.h"
#include "examples/common/stopwatch.h"
#include "examples/common/training_log.h"
#include "examples/gpt/config.h"
#include "examples/gpt/corpus.h"
#include "fovea/nn/transformer/generate.h"
#include "fovea/optim/adam.h"
#include "fovea/optim/checkpoint.h"
#include "fovea/optim/schedule.h"

namespace fovea::char_gpt {

/// What the model writes behind the prompt, `tokens` characters.
std::string write_text(const GPT& model, const Characters& characters, const std::string& prompt,
                       int64_t tokens, const SampleOptions& o, uint64_t seed);

/// One training run.
class Trainer {
 public:
  /// Starts from flags.resume when that names a checkpoint. IoError when it does not fit.
  Trainer(GPT& model, const Corpus& corpus, const Config& c, const examples::CommonFlags& flags);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Trains to the end, with a checkpoint in out/checkpoint.safetensors at every evaluation. On
  /// Ctrl-C saves, says how to go on, and throws Exit.
  void train();

  /// A row a step: "loss", and "seconds" without evaluation.
  const examples::TrainingLog& steps() const { return steps_; }
  /// A row an evaluation: "step", "train_loss" since the one before, "valid_loss".
  const examples::TrainingLog& evaluations() const { return evaluations_; }

 private:
  void step();
  double recent_loss(size_t steps) const;
  void evaluate(examples::ProgressBar& bar);
  [[noreturn]] void stop(examples::ProgressBar& bar);

  GPT& model_;
  const Corpus& corpus_;
  const Config& c_;
  const examples::CommonFlags& flags_;
  std::string checkpoint_;
  WindowOrder windows_;
  AdamW adam_;
  Schedule schedule_;
  examples::TrainingLog steps_{{"loss", "seconds"}};
  examples::TrainingLog evaluations_{{"step", "train_loss", "valid_loss"}};
  TrainingRun run_;
  examples::Stopwatch watch_;
};

}  // namespace fovea::char_gpt
