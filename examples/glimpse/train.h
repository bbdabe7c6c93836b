// Training, validation and test.
#pragma once

#include <optional>
#include <string>

#include "examples/common/flags.h"
#include "examples/common/progress_bar.h"
#include "examples/common/stopwatch.h"
#include "examples/glimpse/config.h"
#include "examples/glimpse/data.h"
#include "examples/glimpse/history.h"
#include "examples/glimpse/model.h"
#include "fovea/optim/adam.h"
#include "fovea/optim/checkpoint.h"
#include "fovea/optim/schedule.h"

namespace fovea::glimpse {

struct Datasets {
  Images train, valid, test;
};
/// The last tenth of the training images, at most 5,000, is for validation. IoError, ValueError.
Datasets load_datasets(const Config& c);

/// The share of wrong answers, in [0, 1].
double error_rate(const RecurrentAttention& model, const Images& images, const Config& c,
                  Purpose purpose);

/// One training run.
class Trainer {
 public:
  /// Starts from flags.resume when that names a checkpoint. IoError when it does not fit.
  Trainer(RecurrentAttention& model, Datasets& data, const Config& c,
          const examples::CommonFlags& flags);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Trains to the end, with a checkpoint in out/checkpoint.safetensors after every epoch. On
  /// Ctrl-C saves, says how to go on, and throws Exit.
  History train();

 private:
  void resume();
  void epoch(examples::ProgressBar& bar);
  void step(const Tensor& order);
  void show(examples::ProgressBar& bar) const;
  void save(int64_t epoch);
  [[noreturn]] void stop(examples::ProgressBar& bar);
  int64_t done() const;  // images, in all epochs

  RecurrentAttention& model_;
  Datasets& data_;
  const Config& c_;
  const examples::CommonFlags& flags_;
  std::string checkpoint_;
  Adam adam_;
  std::optional<Schedule> cosine_;
  std::optional<ReduceLROnPlateau> plateau_;
  History history_;
  TrainingRun run_;
  examples::Stopwatch watch_;
};

}  // namespace fovea::glimpse
