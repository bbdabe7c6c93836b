// Training, epoch after epoch, with a look at the held-out part after each.
#pragma once

#include <optional>
#include <string>

#include "examples/common/flags.h"
#include "examples/common/progress_bar.h"
#include "examples/common/stopwatch.h"
#include "examples/common/training_log.h"
#include "examples/seq2seq/evaluate.h"
#include "fovea/io/loader.h"
#include "fovea/optim/adam.h"
#include "fovea/optim/checkpoint.h"
#include "fovea/optim/schedule.h"

namespace fovea::seq2seq {

/// One training run.
class Trainer {
 public:
  /// Starts from flags.resume when that names a checkpoint. IoError when it does not fit.
  Trainer(EncoderDecoder& model, const Dataset& dataset, const Config& c,
          const examples::CommonFlags& flags);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Trains to the end, with a checkpoint in out/checkpoint.safetensors after every epoch and every
  /// few minutes. False when Ctrl-C stopped it, after it has saved.
  [[nodiscard]] bool train();
  std::string where() const;  ///< "at step 120 of 300"
  const std::string& checkpoint() const { return checkpoint_; }

  /// A row an epoch: "epoch", "train_loss", "valid_perplexity", "valid_error" of tokens,
  /// "valid_wrong" of sequences, "seconds" without evaluation, "tokens" of targets.
  const examples::TrainingLog& epochs() const { return epochs_; }
  double train_seconds() const;
  double train_tokens() const;

 private:
  void step(const PairBatch& batch);
  void end_epoch(examples::ProgressBar& bar);
  void save();

  EncoderDecoder& model_;
  const Dataset& dataset_;
  const HeldOut valid_;
  const Config& c_;
  bool quiet_;
  std::string checkpoint_;
  PairBatches batches_;
  BatchLoader loader_;
  AdamW adam_;
  int64_t steps_;  // in all epochs
  Schedule schedule_;
  examples::TrainingLog sums_{{"loss", "tokens", "seconds"}};  // a row a step of this epoch
  examples::TrainingLog epochs_{{"epoch", "train_loss", "valid_perplexity", "valid_error",
                                 "valid_wrong", "seconds", "tokens"}};
  TrainingRun run_;
  examples::Stopwatch watch_;
  double since_save_ = 0;
};

}  // namespace fovea::seq2seq
