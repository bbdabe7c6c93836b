// Soft attention: a mean of all values, weighted by a softmax over the scores of their keys.
//
//     s_ij = score(q_i, k_j),   a_ij = exp(s_ij) / sum_j' exp(s_ij'),   c_i = sum_j a_ij v_j
//
// How the gradient flows, C = A V and dC being given:
//
//     dV = A' dC                   a value learns from those that looked at it, as much as they did
//     dA = dC V'                   a weight is worth how well its value agrees with what is wanted
//     dS = A (dA - rowsum(A dA))   softmax compares: a score rises where its value was worth more
//                                  than the mean over all keys, and nothing rises when all are
//                                  equal
//
// and from dS through the score into queries, keys and its parameters (score.h). Bahdanau 2014, eq.
// 5 and 6; Luong 2015, eq. 7.
#pragma once

#include <memory>

#include "fovea/nn/attention/score.h"
#include "fovea/nn/attention/source.h"

namespace fovea {

/// Soft attention over any score. Parameters: those of the score, under "score.".
class ScoredAttention : public SourceAttention {
 public:
  std::shared_ptr<Score> score;

  /// ValueError without a score.
  explicit ScoredAttention(std::shared_ptr<Score> score);

  /// q (B, Tq, Dq), keys (B, Tk, Dk), values (B, Tk, Dv), keep_mask as in mask.h. A query that may
  /// see no key gets weights and context 0, and adds 0 to every gradient. Keys and values that no
  /// query sees cannot reach the result, NaN included. ShapeError for other shapes.
  SoftAttended operator()(const Tensor& q, const Tensor& keys, const Tensor& values,
                          const Tensor& keep_mask = {}) const;
  SoftAttended attend(const Tensor& q, const AttentionSource& source,
                      int64_t first_step = 0) const override;
  void visit(Visitor& v) override { v("score", score); }

 private:
  Tensor project(const Tensor& keys) const override { return score->project(keys); }
};

}  // namespace fovea
