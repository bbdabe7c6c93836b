// The numbers in a state that comes from a file. Not public.
#pragma once

#include <string>

#include "fovea/nn/state.h"

// Each notes in `diff` what no run can have saved, where the tensor of that name is there and is a
// single number of the dtype: compare_states sees to the rest.
namespace fovea::detail {

/// How often something was done: i64 from 0 to 2^53, where counting in f64 ends.
void check_count(StateDiff& diff, const NamedTensors& given, const std::string& name);

/// A finite f64 >= 0.
void check_rate(StateDiff& diff, const NamedTensors& given, const std::string& name);

}  // namespace fovea::detail
