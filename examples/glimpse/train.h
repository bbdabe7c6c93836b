// Training, validation and test.
#pragma once

#include <string>

#include "examples/common/flags.h"
#include "examples/glimpse/config.h"
#include "examples/glimpse/data.h"
#include "examples/glimpse/history.h"
#include "examples/glimpse/model.h"

namespace fovea::glimpse {

struct Datasets {
  Images train, valid, test;
};
/// The last tenth of the training images, at most 5,000, is for validation. IoError, ValueError.
Datasets load_datasets(const Config& c);

/// The share of wrong answers, in [0, 1].
double error_rate(const RecurrentAttention& model, const Images& images, const Config& c,
                  Purpose purpose);

/// Trains to the end, with a checkpoint in out/checkpoint.safetensors after every epoch. Starts
/// from flags.resume when that names one. On Ctrl-C saves, says how to go on, and throws Exit.
History train(RecurrentAttention& model, Datasets& data, const Config& c,
              const examples::CommonFlags& flags);

}  // namespace fovea::glimpse
