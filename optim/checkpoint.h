// A whole training run in one safetensors file: stop anywhere, load, and go on with the same bits.
//
//     TrainingRun run{.parts = {{"model", &model}, {"optimizer", &adam}, {"schedule", &schedule}},
//                     .generators = {{"data", &loader_generator}}};
//     if (resume) load_checkpoint(file, run);
//     for (; run.progress.epoch < epochs; ...) { ...; save_checkpoint(file, run); }
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fovea/core/random.h"
#include "fovea/nn/state.h"

namespace fovea {

/// Where the run stands.
struct Progress {
  int64_t epoch = 0;
  int64_t step = 0;      ///< over all epochs
  int64_t position = 0;  ///< in the data of this epoch: how much of it has been used
};

/// What is saved, and where it is loaded to. Names are free, without dots; they become the first
/// word of the names in the file: "model.encoder.weight".
struct TrainingRun {
  std::vector<std::pair<std::string, Stateful*>> parts = {};  ///< modules, optimisers, schedules
  /// Beside this thread's default generator, which is always saved, as "default".
  std::vector<std::pair<std::string, Generator*>> generators = {};
  Progress progress = {};
  std::map<std::string, std::string> metadata = {};  ///< free text: flags, vocabulary, date
};

/// Writes atomically: `path` holds the old run or the new one, never a part. A part adds its
/// state() as "PART.NAME", a generator i64 [seed, stream] as "generator.NAME", progress three i64
/// as "progress.epoch", ... IoError when the file cannot be written; ValueError for names that are
/// empty, hold a dot, occur twice, or are "generator" or "progress", and for null pointers.
void save_checkpoint(const std::string& path, const TrainingRun& run);

/// Restores all of it, in place. Strict: one IoError names the file and lists everything missing,
/// extra or mismatched in all parts together, and then nothing has changed. Mismatched are also
/// numbers that no run can have saved: a learning rate of -1 or NaN, a step of -5.
void load_checkpoint(const std::string& path, TrainingRun& run);

/// Restores one part alone: the model of a run, to use it without training.
void load_part(const std::string& path, const std::string& part, Stateful& to);

}  // namespace fovea
