// Several attentions on the same budget.
#pragma once

#include "examples/seq2seq/arguments.h"

namespace fovea::seq2seq {

/// Trains a model for each of a.compare, each with the preset of its kind and in a folder of its
/// own, prints one table, and writes compare.json and compare.svg: how they learn, and how right
/// they are by length. What an earlier run of the same has trained is not trained again: after
/// Ctrl-C, the same command goes on.
int compare(const Arguments& a);

}  // namespace fovea::seq2seq
