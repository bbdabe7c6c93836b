#include "fovea/nn/embedding.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/init.h"
#include "fovea/ops/ops.h"

namespace fovea {

Embedding::Embedding(const EmbeddingOptions& o) : padding_idx(o.padding_idx) {
  if (o.count < 0 || o.dim < 0) {
    throw ValueError(
        fmt::format("Embedding: count = {}, dim = {}; sizes are not negative", o.count, o.dim));
  }
  if (padding_idx < -1 || padding_idx >= o.count) {
    throw ValueError(fmt::format("Embedding: padding_idx = {} with {} rows; need a row, or -1",
                                 padding_idx, o.count));
  }
  weight = Tensor::empty({o.count, o.dim}, o.dtype);
  init::normal_(weight);
  if (padding_idx >= 0) init::zeros_(select(weight, 0, padding_idx));
  weight.requires_grad_();
}

Tensor Embedding::forward(const Tensor& ids) const { return embedding(weight, ids, padding_idx); }

void Embedding::visit(Visitor& v) { v("weight", weight); }

}  // namespace fovea
