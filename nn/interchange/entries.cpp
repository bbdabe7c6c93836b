#include "fovea/nn/interchange/detail/entries.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea::detail {

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
  const StateDiff diff = compare_states(wanted, converted);
  if (!diff.ok()) {
    throw ShapeError(
        fmt::format("{}: the state does not fit the module: {}; make the module with "
                    "the options the state comes from",
                    op, diff.str()));
  }
  for (const Entry& e : entries) {
    Tensor whole = find(converted, e.name);
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
