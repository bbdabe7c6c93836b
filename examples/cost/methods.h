// The kinds of attention whose cost is compared.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/core/tensor.h"

namespace fovea::cost {

struct Sizes {
  int64_t heads = 4;       ///< H
  int64_t dim = 64;        ///< D of a head
  int64_t window = 128;    ///< keys on either side of a query that windowed attention sees
  int64_t landmarks = 16;  ///< of SOFT
  int64_t features = 64;   ///< of Performer
};

struct Method {
  std::string key;   ///< of metrics.json
  std::string name;  ///< as people read it
  /// q, k, v (1, H, T, D) to as much.
  std::function<Tensor(const Tensor& q, const Tensor& k, const Tensor& v)> attend;
};

/// First the dense formula and flash attention, two ways to compute one function; then others.
/// Performer's directions come from the default generator.
std::vector<Method> methods(const Sizes& sizes);

}  // namespace fovea::cost
