#include "fovea/nn/attention/hard_sample.h"

#include <fmt/format.h>

#include <string>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {

Tensor hard_attention_sample(const Tensor& probs, Generator* g) {
  if (!probs.defined() || probs.dim() != 2) {
    throw ShapeError(fmt::format("hard_attention_sample: probs is {}; need (B, T)",
                                 probs.defined() ? probs.shape().str() : std::string("undefined")));
  }
  return multinomial(probs, 1, false, g);
}

}  // namespace fovea
