// Fast additive attention: two sums over tokens instead of Tq x Tk scores. Fastformer: Wu 2021,
// section 3.1, eq. 2 to 6.
//
//     a = softmax over tokens of (s_q' q_i / sqrt D),   qg = sum_i a_i q_i      in each head
//     p_i = qg * k_i
//     b = softmax over tokens of (s_k' p_i / sqrt D),   kg = sum_i b_i p_i
//     y_i = W_o [kg * v_i of all heads] + q_i
//
// q, k and v are projections of x, D wide in each head. Time and memory are linear in T. How the
// gradient flows: every y_i reaches kg, from there the b_i and all p_i, and through these qg, the
// a_i and all q_i; each softmax spreads it as softmax.cpp says; q_i gets it directly as well.
#pragma once

#include "fovea/nn/linear.h"

namespace fovea {

struct FastAdditiveAttentionOptions {
  int64_t d_model = 0;  ///< width of x
  int64_t width = 0;    ///< D of one head; 0: d_model / heads, which must then divide
  int64_t heads = 1;
  bool bias = true;  ///< in all four projections
  DType dtype = f32;
};

/// x (B, T, d_model), keep_mask bool (B, T), true = a token -> (B, T, heads D). Padding takes part
/// in nothing, NaN included: its result is 0 and it gets no gradient. Parameters "w_q", "w_k",
/// "w_v", "w_o", each a Linear, and "query_score", "key_score" (heads, D), N(0, 0.02^2) at first as
/// in the paper's code. ValueError for widths that do not fit, ShapeError for other shapes.
class FastAdditiveAttention : public Module {
 public:
  Linear w_q, w_k, w_v, w_o;
  Tensor query_score, key_score;

  explicit FastAdditiveAttention(const FastAdditiveAttentionOptions& o);

  Tensor forward(const Tensor& x, const Tensor& keep_mask = {}) const;
  Tensor operator()(const Tensor& x, const Tensor& keep_mask = {}) const {
    return forward(x, keep_mask);
  }
  const FastAdditiveAttentionOptions& options() const { return o_; }
  void visit(Visitor& v) override;

 private:
  FastAdditiveAttentionOptions o_;
};

}  // namespace fovea
