// ALiBi, attention with linear biases. Press 2022, "Train short, test long", section 3.
//
//     s_ij = q_i . k_j / sqrt(D) - m_h |p_i - j|,   m_h = 2^(-8 h / H),  h = 1 ... H
//
// What is far counts less, in each head at a rate of its own: from one half a token to 2^-8. A
// model that was trained on short texts meets, in longer ones, nothing but larger penalties, so it
// can read on. Nothing is learned and the bias is a constant: gradients of the scores pass as they
// come. The paper is causal; here keys after the query, where a mask leaves them, count by distance
// too.
#pragma once

#include "fovea/nn/module.h"

namespace fovea {

/// (tq, tk) -> (H, Tq, Tk), to be handed to attention as AttentionOptions::bias. Queries stand
/// lower-right, see distances(). The slopes are 2^(-8 h / H) for every H; for an H that is no power
/// of two the paper's code takes those of the next smaller power, then every second one of the next
/// larger. ValueError unless heads >= 1 and sizes are not negative.
class AlibiBias : public Module {
 public:
  explicit AlibiBias(int64_t heads);

  Tensor forward(int64_t tq, int64_t tk, DType dtype = f32) const;
  Tensor operator()(int64_t tq, int64_t tk, DType dtype = f32) const {
    return forward(tq, tk, dtype);
  }
  /// m (H)
  Tensor slopes(DType dtype = f32) const;
  void visit(Visitor&) override {}

 private:
  int64_t heads_;
};

}  // namespace fovea
