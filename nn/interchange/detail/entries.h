// Parameters under the names, and in the pieces, of another framework. Not public.
#pragma once

#include <string>
#include <vector>

#include "fovea/nn/state.h"

namespace fovea::detail {

/// A tensor of the other framework: some of ours, one below the other, perhaps transposed.
struct Entry {
  std::string name;
  Tensors parts;
  bool transposed = false;
};
using Entries = std::vector<Entry>;

/// Copies of ours as the other framework has them.
NamedTensors foreign_state(const Entries& entries);
/// Copies theirs to ours, with floats converted; extra names are refused as well. ShapeError.
void assign_foreign(const char* op, const Entries& entries, const NamedTensors& given);

}  // namespace fovea::detail
