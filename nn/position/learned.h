// Learned positions: a vector for each place. Gehring 2017, section 3.1; BERT, GPT-2.
//
//     y_t = x_t + W[offset + t]
//
// The simplest answer to "where is this token?", and one that knows nothing beyond max_len: rows
// that training never reaches stay what they were at first. The gradient of row W[p] is the sum of
// what arrives at position p over the batch; x gets it unchanged.
#pragma once

#include "fovea/nn/embedding.h"

namespace fovea {

struct LearnedPositionsOptions {
  int64_t max_len = 0;  ///< positions 0 ... max_len - 1
  int64_t dim = 0;      ///< D
  DType dtype = f32;
};

/// x (..., T, D) -> x plus rows offset ... offset + T - 1; offset is the number of tokens that came
/// before, for decoding behind a cache. Parameter "weight" (max_len, D), an Embedding's: N(0, 1) at
/// first (GPT-2 takes 0.02: init::normal_(p.table.weight, 0, 0.02)). IndexError when a token would
/// stand beyond max_len; ShapeError for other widths; ValueError for a negative offset.
class LearnedPositions : public Module {
 public:
  Embedding table;

  explicit LearnedPositions(const LearnedPositionsOptions& o);
  LearnedPositions(int64_t max_len, int64_t dim)
      : LearnedPositions(LearnedPositionsOptions{.max_len = max_len, .dim = dim}) {}

  Tensor forward(const Tensor& x, int64_t offset = 0) const;
  Tensor operator()(const Tensor& x, int64_t offset = 0) const { return forward(x, offset); }
  void visit(Visitor& v) override { table.visit(v); }
};

}  // namespace fovea
