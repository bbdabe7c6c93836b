#include "fovea/nn/interchange/detail/entries.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea::detail {

namespace {

bool same_parts(const Entry& a, const Entry& b) {
  return a.transposed == b.transposed &&
         std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                    [](const Tensor& x, const Tensor& y) { return x.same_as(y); });
}

// The names of tensors that are tied to one that comes before.
std::vector<Alias> aliases_of(const Entries& entries) {
  std::vector<Alias> aliases;
  for (size_t i = 0; i < entries.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!same_parts(entries[k], entries[i])) continue;
      aliases.push_back({entries[i].name, entries[k].name});
      break;
    }
  }
  return aliases;
}

}  // namespace

NamedTensors foreign_state(const Entries& entries) {
  const NoGrad scope;
  NamedTensors state;
  for (const Entry& e : entries) {
    const Tensor whole = e.parts.size() == 1 ? e.parts[0] : cat(e.parts, 0);
    state.emplace_back(e.name, clone(e.transposed ? transpose(whole, 0, 1) : whole));
  }
  return state;
}

void assign_foreign(const char* op, const Entries& entries, const NamedTensors& given) {
  const NoGrad scope;
  const NamedTensors wanted = foreign_state(entries);
  NamedTensors converted = given;
  for (auto& [name, t] : converted) {
    const Tensor like = find(wanted, name);
    if (like.defined() && like.is_floating() && t.is_floating()) t = to(t, like.dtype());
  }
  const std::vector<Alias> aliases = aliases_of(entries);
  NamedTensors needed = wanted;
  std::erase_if(needed, [&](const auto& e) {
    return std::any_of(aliases.begin(), aliases.end(),
                       [&](const Alias& a) { return a.name == e.first; });
  });
  const StateDiff diff = compare_states(needed, aliases, converted);
  if (!diff.ok()) {
    throw ShapeError(
        fmt::format("{}: the state does not fit the module: {}; make the module with "
                    "the options the state comes from",
                    op, diff.str()));
  }
  converted = under_first_names(converted, aliases);
  for (const Entry& e : entries) {
    Tensor whole = find(converted, e.name);
    if (!whole.defined()) continue;  // tied to one that has been copied
    if (e.transposed) whole = transpose(whole, 0, 1);
    if (e.parts.size() == 1) {  // of any rank
      e.parts[0].copy_(whole);
      continue;
    }
    int64_t first = 0;
    for (const Tensor& part : e.parts) {
      part.copy_(whole.narrow(0, first, part.size(0)));
      first += part.size(0);
    }
  }
}

}  // namespace fovea::detail
