// What the user asked for.
#pragma once

#include <algorithm>
#include <functional>
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
  /// How many sequences of the test part are tested.
  int64_t tested(const Dataset& d) const {
    return test_limit > 0 ? std::min(test_limit, d.test.size()) : d.test.size();
  }
  std::vector<std::string> compare = {};  ///< attentions
  /// The configuration of the same command with another --attention.
  std::function<Config(const std::string& attention)> with_attention = {};
};

/// Flags that are not given keep the values of the preset, or of the file to go on from.
Arguments read_arguments(int argc, char** argv);

}  // namespace fovea::seq2seq
