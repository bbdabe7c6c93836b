// What a run has measured so far; part of its checkpoints, so that a resumed run ends with the
// curves of an uninterrupted one.
#pragma once

#include <vector>

#include "fovea/nn/state.h"

namespace fovea::glimpse {

class History : public Stateful {
 public:
  // One entry an epoch.
  std::vector<double> loss;            ///< cross-entropy in nats, mean over the epoch
  std::vector<double> train_accuracy;  ///< fractions
  std::vector<double> valid_error;
  std::vector<double> seconds;  ///< validation included

  /// The epoch under way: sums over the images seen.
  struct Running {
    double loss = 0, correct = 0, seen = 0, seconds = 0;
  };
  Running running;

  /// Ends an epoch.
  void add(double error);
  double total_seconds() const;

  NamedTensors state() const override;
  StateDiff check_state(const NamedTensors& given) const override;
  void assign_state(const NamedTensors& given) override;
};

}  // namespace fovea::glimpse
