#include "fovea/nn/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
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

StateDiff compare_states(const NamedTensors& wanted, const std::vector<Alias>& aliases,
                         const NamedTensors& given) {
  StateDiff diff = compare_states(wanted, under_first_names(given, aliases));
  for (const Alias& alias : aliases) {
    const auto it = std::find(diff.extra.begin(), diff.extra.end(), alias.name);
    if (it == diff.extra.end()) continue;
    diff.extra.erase(it);
    std::vector<const Tensor*> named, others;  // what it is to agree with
    std::string other = alias.of;
    for (const auto& [name, t] : given) {
      if (name == alias.name) named.push_back(&t);
      if (name == alias.of) others.push_back(&t);
    }
    for (size_t i = 0; others.empty() && i < aliases.size(); ++i) {
      if (aliases[i].of != alias.of || aliases[i].name == alias.name) continue;
      other = aliases[i].name;
      for (const auto& [name, t] : given) {
        if (name == other) others.push_back(&t);
      }
    }
    if (named.size() > 1) {
      diff.mismatched.push_back(alias.name + ": is given twice");
    } else if (!named[0]->defined() || others.empty() || !others[0]->defined() ||
               !same_bits(*named[0], *others[0])) {
      diff.mismatched.push_back(
          fmt::format("{}: is tied to {}, and their elements differ", alias.name, other));
    }
  }
  return diff;
}

NamedTensors under_first_names(const NamedTensors& given, const std::vector<Alias>& aliases) {
  NamedTensors list = given;
  for (const Alias& alias : aliases) {
    const auto called = [&](const std::string& name) {
      return std::find_if(list.begin(), list.end(), [&](const auto& e) { return e.first == name; });
    };
    if (called(alias.of) != list.end()) continue;
    if (const auto it = called(alias.name); it != list.end()) it->first = alias.of;
  }
  return list;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
  const NoGrad scope;
  const Tensor x = contiguous(a), y = contiguous(b);
  const auto bytes = static_cast<size_t>(x.numel() * item_size(x.dtype()));
  return bytes == 0 || std::memcmp(x.raw(), y.raw(), bytes) == 0;
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
