// Scaled dot-product attention, step by step, with its weights. Vaswani 2017, eq. 1.
//
//     S = Q K' / sqrt(D),   A = softmax of what the mask keeps of S,   A~ = dropout(A),   Y = A~ V
//
// How the gradient flows. Of Y = A~ V:  dV = A~' dY  and  dA~ = dY V'. Dropout passes on what it
// let through, scaled alike. Softmax has the Jacobian dA_ij / dS_il = A_ij (d_jl - A_il), so
//
//     dS_ij = A_ij (dA_ij - sum_l A_il dA_il)
//
// which is 0 where A is 0: what is masked takes no gradient. Of S = Q K' / sqrt(D):
//
//     dQ = dS K / sqrt(D),   dK = dS' Q / sqrt(D)
//
// This layer returns A and therefore stores it, (Tq, Tk) numbers; who does not want the weights
// takes the operation scaled_dot_product_attention, which gives the same Y and stores none.
#pragma once

#include "fovea/nn/attention/soft.h"
#include "fovea/nn/dropout.h"

namespace fovea {

/// No parameters. ValueError unless 0 <= dropout <= 1.
class DotProductAttention : public Module {
 public:
  Dropout dropout;  ///< of the weights, while training

  explicit DotProductAttention(double p = 0.1) : dropout(p) {}

  /// q (B, Tq, D), k (B, Tk, D), v (B, Tk, Dv), keep_mask as in mask.h -> the output (B, Tq, Dv),
  /// as context, and the weights (B, Tq, Tk) before dropout. A query that may see no key gets 0;
  /// keys that no query sees cannot reach the result, NaN included. ShapeError for other shapes.
  SoftAttended operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                          const Tensor& keep_mask = {}) const;
  void visit(Visitor& visitor) override { visitor("dropout", dropout); }
};

}  // namespace fovea
