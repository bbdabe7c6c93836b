// Several attentions on the same budget.
#pragma once

#include "examples/seq2seq/arguments.h"

namespace fovea::seq2seq {

/// Trains a model for each of a.compare, each with the preset of its kind, prints one table, and
/// writes compare.json and compare.svg: how they learn, and how right they are by length.
int compare(const Arguments& a);

}  // namespace fovea::seq2seq
