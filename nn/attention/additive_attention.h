// The scores of additive attention for one query, as tutorials write them. Bahdanau 2014, appendix
// A.1.2.
//
//     s_j = v' tanh(W_q q + W_k k_j)
//
// How the gradient flows. With t_j = tanh(u_j), u_j = W_q q + W_k k_j and ds (T) from above,
//
//     ds_j / du_j = v * (1 - t_j^2)        tanh' = 1 - tanh^2, each of the h units for itself
//     du_j = ds_j v * (1 - t_j^2),   dv = sum_j ds_j t_j
//     dW_q = (sum_j du_j) q',   dW_k = sum_j du_j k_j',   dq = W_q' sum_j du_j,   dk_j = W_k' du_j
//
// No (T, h) of hidden units is stored: ops/additive_scores.cpp makes t again on the way back.
#pragma once

#include "fovea/nn/linear.h"

namespace fovea {

struct AdditiveAttentionOptions {
  int64_t query_dim = 0;
  int64_t key_dim = 0;
  int64_t hidden_dim = 0;
  DType dtype = f32;
};

/// Parameters "w_q" (query_dim -> hidden_dim), "w_k" (key_dim -> hidden_dim) and "v" (hidden_dim ->
/// 1), Linears without bias. It gives scores, and leaves softmax and mask to the caller:
/// ScoredAttention over AdditiveScore does all of it for many queries. ValueError for widths
/// below 1.
class AdditiveAttention : public Module {
 public:
  Linear w_q, w_k, v;

  explicit AdditiveAttention(const AdditiveAttentionOptions& o);
  AdditiveAttention(int64_t query_dim, int64_t key_dim, int64_t hidden_dim)
      : AdditiveAttention(AdditiveAttentionOptions{
            .query_dim = query_dim, .key_dim = key_dim, .hidden_dim = hidden_dim}) {}

  /// query (B, Dq), keys (B, T, Dk) -> scores (B, T). ShapeError for other shapes.
  Tensor operator()(const Tensor& query, const Tensor& keys) const;
  void visit(Visitor& visitor) override;
};

}  // namespace fovea
