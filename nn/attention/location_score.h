// A score that never looks at the keys: the query says which place it wants.
#pragma once

#include "fovea/nn/attention/score.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct LocationScoreOptions {
  int64_t query_dim = 0;
  int64_t max_length = 0;  ///< L, the most keys there can be
  DType dtype = f32;
};

/// (W q)_j, j = 0 ... Tk - 1. Luong 2015, section 3.1 ("location"). Parameter "w", a Linear without
/// bias, Dq -> L, of which the first Tk rows act: row j takes the gradient sum_i dS_ij q_i, rows
/// beyond Tk take none. Keys, of any width, count only by their number; ShapeError when that
/// exceeds L.
class LocationScore : public Score {
 public:
  Linear w;

  explicit LocationScore(const LocationScoreOptions& o);
  void visit(Visitor& v) override { v("w", w); }

 private:
  Tensor scores(const Tensor& q, const Tensor& keys) const override;
};

}  // namespace fovea
