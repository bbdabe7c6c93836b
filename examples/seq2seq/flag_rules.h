// Which flags go together. Those that mean something in some runs only are refused elsewhere rather
// than ignored.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "examples/seq2seq/config.h"

namespace fovea::seq2seq {

/// UsageError when values do not go together.
void check_config(const Config& c);
/// UsageError when one of these flags means something in none of the configurations.
void check_given(const std::set<std::string>& flags, const std::vector<Config>& configs);

}  // namespace fovea::seq2seq
