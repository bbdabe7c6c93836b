#include "examples/common/training_log.h"

#include <algorithm>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea::examples {

void TrainingLog::add(const std::vector<double>& row) {
  if (row.size() != columns_.size()) throw ValueError("TrainingLog: need one number a column");
  values_.insert(values_.end(), row.begin(), row.end());
}

std::vector<double> TrainingLog::column(const std::string& name) const {
  const auto at = std::find(columns_.begin(), columns_.end(), name);
  if (at == columns_.end()) throw ValueError("TrainingLog: there is no column " + name);
  std::vector<double> list;
  for (auto i = static_cast<size_t>(at - columns_.begin()); i < values_.size();
       i += columns_.size()) {
    list.push_back(values_[i]);
  }
  return list;
}

NamedTensors TrainingLog::state() const {
  const auto width = static_cast<int64_t>(columns_.size());
  return {{"rows", from_vector(values_, {static_cast<int64_t>(rows()), width})}};
}

StateDiff TrainingLog::check_state(const NamedTensors& given) const {
  // As many rows as the file has, whatever this run has done so far.
  const Tensor rows = find(given, "rows");
  const int64_t n = rows.defined() && rows.dim() == 2 ? rows.size(0) : 0;
  const auto width = static_cast<int64_t>(columns_.size());
  return compare_states({{"rows", zeros({n, width}, f64)}}, given);
}

void TrainingLog::assign_state(const NamedTensors& given) {
  values_ = find(given, "rows").to_vector<double>();
}

}  // namespace fovea::examples
