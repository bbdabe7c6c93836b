#include "fovea/nn/attention/location_score.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {

LocationScore::LocationScore(const LocationScoreOptions& o)
    : Score("LocationScore", o.query_dim, 0),
      w({.in = at_least_1("LocationScore", "query_dim", o.query_dim),
         .out = at_least_1("LocationScore", "max_length", o.max_length),
         .bias = false,
         .dtype = o.dtype}) {}

Tensor LocationScore::scores(const Tensor& q, const Tensor& keys) const {
  if (keys.size(1) > w.out()) {
    throw ShapeError(
        fmt::format("{}: keys is {}, max_length is {}; give a max_length of at least Tk, or "
                    "shorten the keys",
                    name(), keys.shape().str(), w.out()));
  }
  return linear(q, narrow(w.weight, 0, 0, keys.size(1)));
}

}  // namespace fovea
