// A table of learned vectors, looked up by number.
#pragma once

#include "fovea/nn/module.h"

namespace fovea {

struct EmbeddingOptions {
  int64_t count = 0;         ///< V, rows of the table
  int64_t dim = 0;           ///< D, width of a row
  int64_t padding_idx = -1;  ///< this row starts at 0 and gets no gradient; -1: none
  DType dtype = f32;
};

/// ids i64 of any shape -> ids.shape + (D). Parameter weight (V, D), N(0, 1) at first. IndexError
/// for ids outside [0, V); ValueError for negative sizes or a padding_idx outside [-1, V).
class Embedding : public Module {
 public:
  Tensor weight;
  int64_t padding_idx;

  explicit Embedding(const EmbeddingOptions& o);
  Embedding(int64_t count, int64_t dim) : Embedding(EmbeddingOptions{.count = count, .dim = dim}) {}

  Tensor forward(const Tensor& ids) const;
  Tensor operator()(const Tensor& ids) const { return forward(ids); }
  void visit(Visitor& v) override;
};

}  // namespace fovea
