// What the user asked for.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "examples/common/flags.h"
#include "examples/seq2seq/config.h"

namespace fovea::seq2seq {

struct Arguments {
  Config config = {};
  examples::CommonFlags common = {};
  std::string checkpoint = {};  ///< to translate with, or to go on from
  std::string text = {};        ///< to translate
  bool translate = false;
  std::vector<std::string> compare = {};  ///< attentions
  std::vector<std::string> command = {};  ///< all arguments, as they were given
  std::set<std::string> given = {};       ///< the names of the flags among them
  /// The configuration of the same command with another --attention.
  std::function<Config(const std::string& attention)> with_attention = {};
};

/// Flags that are not given keep the values of the preset, or of the file to go on from.
Arguments read_arguments(int argc, char** argv);

}  // namespace fovea::seq2seq
