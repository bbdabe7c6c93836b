// Relative positions as vectors. Shaw 2018, "Self-attention with relative position
// representations", eq. 3 to 5.
//
//     r_ij = clip(j - p_i, -k, k)
//     s_ij = q_i . (k_j + a_r) / sqrt(D),   P = softmax(s),   y_i = sum_j P_ij (v_j + b_r)
//
// A learned vector for each distance up to k on either side, added to what a key is asked and to
// what it answers; beyond k only the side counts. Both tables are shared by all heads. The gradient
// of a_r gathers dS_ij q_i / sqrt(D), that of b_r gathers P_ij dy_i, over all pairs at distance r.
//
// Memory: added to keys as they stand, the vectors would cost (B, H, Tq, Tk, D). Written apart,
// q_i . k_j + q_i . a_r, all sentences and heads share one (Tq, Tk, D), in one product a query of
// (B H, D) with (D, Tk). That is the form of section 3.3, and the one here.
#pragma once

#include "fovea/nn/attention/multi_head.h"

namespace fovea {

struct ShawRelativeOptions {
  int64_t dim = 0;            ///< D of one head
  int64_t max_distance = 16;  ///< k >= 0
  DType dtype = f32;
};

/// Attention with these vectors, and its two terms by themselves. Queries stand lower-right, see
/// distances(). Parameters "keys" and "values", (2 k + 1, D): row r + k is distance r, before the
/// query first; uniform Xavier at first. ShapeError for other widths; ValueError for a negative dim
/// or max_distance.
class ShawRelative : public Module {
 public:
  Tensor keys, values;

  explicit ShawRelative(const ShawRelativeOptions& o);

  /// q (B, H, Tq, D), k, v (B, H, Tk, D) -> (B, H, Tq, D). o.bias is added to the scores as well.
  Tensor forward(const Tensor& q, const Tensor& k, const Tensor& v,
                 const AttendOptions& o = {}) const;
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                    const AttendOptions& o = {}) const {
    return forward(q, k, v, o);
  }
  /// q (..., Tq, D) -> (..., Tq, Tk): q_i . a_r / sqrt(D), to be added to the scaled scores
  /// (AttentionOptions::bias).
  Tensor score_term(const Tensor& q, int64_t tk) const;
  /// weights (..., Tq, Tk) -> (..., Tq, D): sum_j P_ij b_r, to be added to the result.
  Tensor value_term(const Tensor& weights) const;

  void visit(Visitor& v) override {
    v("keys", keys);
    v("values", values);
  }

 private:
  int64_t max_distance_;
};

}  // namespace fovea
