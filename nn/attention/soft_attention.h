// Soft attention of one query over a sentence, as tutorials write it. Bahdanau 2014, eq. 5 and 6,
// with the score of Luong 2015, section 3.1 ("concat").
//
//     e_j = v . tanh(W [q ; k_j] + b),   a = softmax(e),   c = sum_j a_j v_j
//
// How the gradient flows, from dc (Dv) back to everything, one step a line:
//
//     c = sum_j a_j v_j            dv_j = a_j dc            da_j = dc . v_j
//     a = softmax(e)               de_j = a_j (da_j - sum_l a_l da_l)
//     e_j = v . t_j                dv  += de_j t_j          dt_j = de_j v
//     t_j = tanh(u_j)              du_j = dt_j (1 - t_j^2)             since tanh' = 1 - tanh^2
//     u_j = W_q q + W_k k_j + b    dq += W_q' du_j   dk_j = W_k' du_j
//                                  dW_q += du_j q'   dW_k += du_j k_j'   db += du_j
//
// The query is one for all keys, so what it gets is a sum over them; each key gets its own.
#pragma once

#include "fovea/nn/attention/soft.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct SoftAttentionOptions {
  int64_t query_dim = 0;
  int64_t key_dim = 0;
  int64_t value_dim = 0;  ///< values are read as they are: no parameter has this width
  DType dtype = f32;
};

/// Parameters "attn", a Linear of query_dim + key_dim -> key_dim with bias, and "v" (key_dim),
/// uniform in [0, 1) at first. ValueError for widths below 1.
class SoftAttention : public Module {
 public:
  Linear attn;
  Tensor v;

  explicit SoftAttention(const SoftAttentionOptions& o);
  SoftAttention(int64_t query_dim, int64_t key_dim, int64_t value_dim)
      : SoftAttention(SoftAttentionOptions{
            .query_dim = query_dim, .key_dim = key_dim, .value_dim = value_dim}) {}

  /// query (B, Dq), keys (B, T, Dk), values (B, T, Dv), keep_mask (B, T) -> context (B, Dv) and
  /// weights (B, T). A sentence of which nothing is kept gives 0; what is masked cannot reach the
  /// result, NaN included. ShapeError for other shapes.
  SoftAttended operator()(const Tensor& query, const Tensor& keys, const Tensor& values,
                          const Tensor& keep_mask = {}) const;
  void visit(Visitor& visitor) override;

 private:
  SoftAttentionOptions o_;
};

}  // namespace fovea
