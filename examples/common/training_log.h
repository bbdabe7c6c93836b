// What a run has measured so far; part of its checkpoints, so that a resumed run ends with the
// curves of an uninterrupted one.
#pragma once

#include <string>
#include <vector>

#include "fovea/nn/state.h"

namespace fovea::examples {

/// A table that grows by rows: one column a quantity.
class TrainingLog : public Stateful {
 public:
  explicit TrainingLog(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// One number a column.
  void add(const std::vector<double>& row);
  size_t rows() const { return values_.size() / columns_.size(); }
  /// ValueError when there is no such column.
  std::vector<double> column(const std::string& name) const;

  /// "rows" f64 (rows, columns).
  NamedTensors state() const override;
  StateDiff check_state(const NamedTensors& given) const override;
  void assign_state(const NamedTensors& given) override;

 private:
  std::vector<std::string> columns_;
  std::vector<double> values_;  // row after row
};

}  // namespace fovea::examples
