// What the user asked for.
#pragma once

#include <string>
#include <vector>

#include "examples/common/flags.h"
#include "examples/seq2seq/evaluate.h"

namespace fovea::seq2seq {

struct Arguments {
  Config config = {};
  examples::CommonFlags common = {.out = "out/seq2seq"};
  DecodeFlags decode = {.beams = 4};
  int64_t test_limit = 0;       ///< sequences of the final test; 0: all
  std::string checkpoint = {};  ///< beside --resume
  std::string text = {};        ///< to translate
  bool translate = false;
  std::vector<std::string> compare = {};  ///< attentions
};

/// Flags that are not given keep the values of the preset, or of the file to go on from.
Arguments read_arguments(int argc, char** argv);

}  // namespace fovea::seq2seq
