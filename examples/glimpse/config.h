// All that decides the bits of a run, kept in its checkpoints.
#pragma once

#include <cstdint>
#include <string>

#include "examples/common/recorded_flags.h"
#include "examples/glimpse/model.h"

namespace fovea::glimpse {

struct Config {
  // what is seen
  std::string data = "/usr/share/datasets/fashion-mnist";
  std::string dataset = "original";  ///< original, translated, cluttered
  // the model
  int64_t glimpses = 6;
  int64_t patch = 8;
  int64_t scales = 1;
  int64_t hidden = 256;
  double std = 0.1;
  std::string start = "uniform";  ///< uniform, centre
  // training
  uint64_t seed = 1;
  int64_t epochs = 25;
  int64_t batch = 128;
  double lr = 2e-3;
  std::string schedule = "plateau";  ///< plateau, cosine
  double policy_weight = 0.01;
  double location_lr = 0.05;  ///< of the location network, as a part of lr
  double clip = 1;            ///< largest norm of a gradient
  int64_t duplicates = 1;     ///< episodes for each training image of a batch
  int64_t mc_samples = 1;     ///< episodes for each test image, whose probabilities are averaged

  ModelOptions model() const;
  /// All of these. What says where the data lie, for how many epochs and how it is tested is free.
  examples::RecordedFlags recorded();
};

}  // namespace fovea::glimpse
