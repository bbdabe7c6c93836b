#include "fovea/nn/state.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {

std::string StateDiff::str() const {
  std::string s;
  const auto list = [&s](const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    if (!s.empty()) s += "; ";
    s.append(what).append(": ").append(names[0]);
    for (size_t i = 1; i < names.size(); ++i) s.append(", ").append(names[i]);
  };
  list("missing", missing);
  list("extra", extra);
  list("mismatched", mismatched);
  return s;
}

void StateDiff::add(const std::string& prefix, const StateDiff& part) {
  for (const auto& n : part.missing) missing.push_back(prefix + n);
  for (const auto& n : part.extra) extra.push_back(prefix + n);
  for (const auto& n : part.mismatched) mismatched.push_back(prefix + n);
}

StateDiff compare_states(const NamedTensors& wanted, const NamedTensors& given) {
  struct Found {
    const Tensor* tensor;
    bool used = false;
  };
  StateDiff diff;
  std::unordered_map<std::string, Found> found;
  for (const auto& [name, t] : given) {
    if (!found.try_emplace(name, Found{&t}).second) {
      diff.mismatched.push_back(name + ": is given twice");
    }
  }
  for (const auto& [name, want] : wanted) {
    const auto it = found.find(name);
    if (it == found.end()) {
      diff.missing.push_back(name);
      continue;
    }
    it->second.used = true;
    const Tensor& is = *it->second.tensor;
    if (!is.defined()) {
      diff.mismatched.push_back(name + ": is undefined");
    } else if (!(is.shape() == want.shape()) || is.dtype() != want.dtype()) {
      diff.mismatched.push_back(fmt::format("{}: is {} {}, need {} {}", name, is.shape().str(),
                                            fovea::name(is.dtype()), want.shape().str(),
                                            fovea::name(want.dtype())));
    }
  }
  for (const auto& [name, t] : given) {
    const auto it = found.find(name);
    if (!std::exchange(it->second.used, true)) diff.extra.push_back(name);
  }
  return diff;
}

Tensor find(const NamedTensors& list, const std::string& name) {
  for (const auto& [n, t] : list) {
    if (n == name) return t;
  }
  return {};
}

NamedTensors snapshot(const NamedTensors& state) {
  const NoGrad scope;
  NamedTensors copy;
  copy.reserve(state.size());
  for (const auto& [name, t] : state) copy.emplace_back(name, clone(t));
  return copy;
}

void Stateful::load_state(const NamedTensors& given) {
  const StateDiff diff = check_state(given);
  if (!diff.ok()) {
    throw ShapeError("load_state: the state does not fit: " + diff.str() +
                     "; load it into what it was saved from");
  }
  assign_state(given);
}

}  // namespace fovea
