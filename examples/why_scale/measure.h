// Why attention divides its scores by sqrt(d): what softmax does to scores of a given spread.
//
// Scores. With q, k ~ N(0, 1) of width d, the score s = q'k is a sum of d products, each of mean 0
// and variance 1, so Var s = d. Divided by c it is d / c^2: 1 for c = sqrt(d) (Vaswani 2017,
// section 3.2.1, note 4), and 1 / H for c = sqrt(H d), which tutorials take that divide by the
// width of all H heads.
//
// Gradient. Of p = softmax(s), p_i = exp(s_i) / sum_j exp(s_j):
//
//     dp_i / ds_j = p_i (1[i = j] - p_j)      J = diag(p) - p p'
//
// J = 0 exactly when p is one-hot: then p_i p_j = 0 off the diagonal and p_i - p_i^2 = 0 on it.
// With the largest weight 1 - e no element of J exceeds e, and e is about exp(-gap) for the gap
// between the two largest scores, which grows as sqrt(d) when nothing divides them. Attention then
// points at one key and no gradient says that another would be better.
//
// What is measured: L = u'p with u ~ N(0, 1), so that u stands for whatever comes back to the
// weights, V dL/dy. Then dL/ds = J u, whose mean square over u is |J|_F^2 = sum_ij J_ij^2, and
// dL/dq = K' J u / c. Norms differ by orders of magnitude from query to query; the median says what
// half of all queries get. The mean falls only as 1 / sqrt(d): it lives on the few queries whose
// two best keys tie.
#pragma once

#include <cstdint>

#include "fovea/core/tensor.h"

namespace fovea::why_scale {

/// What is averaged over.
struct Sample {
  int64_t keys = 64;     ///< n, that each query attends to
  int64_t batches = 64;  ///< of n keys and as many queries
};

/// Over all queries.
struct Spread {
  double variance = 0;       ///< of the scores, as softmax gets them
  double entropy = 0;        ///< mean of -sum p log p, from 0 to log n
  double gradient = 0;       ///< median of |dL/ds|
  double mean_gradient = 0;  ///< mean of |dL/ds|
  double gradient_q = 0;     ///< median of |dL/dq|
};

/// Queries, keys and what comes back to the weights, drawn once to be divided in several ways.
class Scores {
 public:
  Scores(int64_t d, const Sample& sample);
  /// Of scores q'k / divisor.
  Spread divided_by(double divisor) const;

 private:
  Tensor q_, k_;  // (batches, n, d)
  Tensor u_;      // (batches, n, n)
};

}  // namespace fovea::why_scale
