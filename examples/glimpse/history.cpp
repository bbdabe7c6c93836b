#include "examples/glimpse/history.h"

#include <algorithm>
#include <numeric>

#include "fovea/ops/ops.h"

namespace fovea::glimpse {
namespace {

Tensor column(const std::vector<double>& v) {
  return from_vector(v, {static_cast<int64_t>(v.size())});
}

}  // namespace

void History::add(double error) {
  const double seen = std::max(running.seen, 1.0);
  loss.push_back(running.loss / seen);
  train_accuracy.push_back(running.correct / seen);
  valid_error.push_back(error);
  seconds.push_back(running.seconds);
  running = {};
}

double History::total_seconds() const {
  return std::accumulate(seconds.begin(), seconds.end(), running.seconds);
}

NamedTensors History::state() const {
  return {{"loss", column(loss)},
          {"train_accuracy", column(train_accuracy)},
          {"valid_error", column(valid_error)},
          {"seconds", column(seconds)},
          {"running", column({running.loss, running.correct, running.seen, running.seconds})}};
}

StateDiff History::check_state(const NamedTensors& given) const {
  // As many epochs as the file has, whatever this run has done so far.
  const Tensor first = find(given, "loss");
  NamedTensors wanted = state();
  for (auto& [name, t] : wanted) {
    if (name != "running" && first.defined() && first.dim() == 1) t = zeros(first.shape(), f64);
  }
  return compare_states(wanted, given);
}

void History::assign_state(const NamedTensors& given) {
  const auto list = [&given](const char* name) { return find(given, name).to_vector<double>(); };
  loss = list("loss");
  train_accuracy = list("train_accuracy");
  valid_error = list("valid_error");
  seconds = list("seconds");
  const auto r = list("running");
  running = {r[0], r[1], r[2], r[3]};
}

}  // namespace fovea::glimpse
