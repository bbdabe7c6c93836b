// Efficient additive attention: one global query instead of Tq x Tk scores. SwiftFormer: Shaker
// 2023, section 3.1, eq. 3 and 4, and the code of the paper.
//
//     q_i = unit(W_q x_i),   k_i = unit(W_k x_i)                unit(z) = z / |z|
//     a   = unit over tokens of (q_i' w / sqrt D),   g = sum_i a_i q_i
//     y_i = W_o (W_p (g * k_i) + q_i)
//
// Time and memory are linear in T. How the gradient flows: every y_i reaches g, so g collects the
// sum over tokens of k_i * W_p' W_o' gy_i; from g it goes to every q_i, directly by a_i and through
// a_i; unit(z) lets pass only what is orthogonal to z, divided by |z|.
#pragma once

#include "fovea/nn/linear.h"

namespace fovea {

struct EfficientAdditiveAttentionOptions {
  int64_t d_model = 0;  ///< width of x and of the result
  int64_t width = 0;    ///< D of one head; 0: d_model / heads, which must then divide
  int64_t heads = 1;    ///< q and k are heads D wide; the paper's heads only widen
  bool bias = true;     ///< in all four projections
  DType dtype = f32;
};

/// x (B, T, d_model), keep_mask bool (B, T), true = a token -> (B, T, d_model). Padding takes part
/// in nothing, NaN included: its result is 0 and it gets no gradient. Parameters "w_q", "w_k",
/// "w_proj", "w_o", each a Linear, and "score" (heads D), N(0, 1) at first. unit(0) = 0, with a
/// finite gradient. ValueError for widths that do not fit, ShapeError for other shapes.
class EfficientAdditiveAttention : public Module {
 public:
  Linear w_q, w_k, w_proj, w_o;
  Tensor score;

  explicit EfficientAdditiveAttention(const EfficientAdditiveAttentionOptions& o);

  Tensor forward(const Tensor& x, const Tensor& keep_mask = {}) const;
  Tensor operator()(const Tensor& x, const Tensor& keep_mask = {}) const {
    return forward(x, keep_mask);
  }
  const EfficientAdditiveAttentionOptions& options() const { return o_; }
  void visit(Visitor& v) override;

 private:
  EfficientAdditiveAttentionOptions o_;
};

}  // namespace fovea
