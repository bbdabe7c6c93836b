// One layer of self-attention, told where its tokens stand in every way that Fovea knows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/core/tensor.h"

namespace fovea::order {

struct Sizes {
  int64_t tokens = 32;  ///< T
  int64_t width = 64;   ///< D of a token
  int64_t heads = 4;
  int64_t moved = 100;  ///< places by which a text is moved
};

struct Scheme {
  std::string key;   ///< of metrics.json
  std::string name;  ///< as people read it
  /// x (1, T, D), its first token at place `offset`, to (1, T, D).
  std::function<Tensor(const Tensor& x, int64_t offset)> attend;
};

/// All schemes around the same four projections. Weights come from the default generator.
std::vector<Scheme> schemes(const Sizes& sizes);

}  // namespace fovea::order
