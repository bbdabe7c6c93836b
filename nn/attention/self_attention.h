// Multi-head self-attention written with einsum, the variant found in many tutorials. After Vaswani
// 2017, section 3.2.2, with three differences that MultiHeadAttention (multi_head.h) does not have:
// every head shares ONE projection of head_dim -> head_dim, without bias; some copies divide by
// sqrt(embed_size) where the paper divides by the root of a head's width; some forget to project.
//
//     E = einsum("nqhd,nkhd->nhqk", Q, K) / scale     scores
//     A = softmax over k of what the mask keeps of E
//     O = einsum("nhqk,nkhd->nqhd", A, V)             y = W_o [O_1; ...; O_H] + b
//
// Dividing by a larger number makes every softmax flatter: with H heads the scores are sqrt(H)
// times smaller. It trains, but to other weights. Copies that write "nhqk,nvhd->nqhd" give k and v
// letters of their own: einsum then sums A over k, which is 1, and V over v, so that every query
// gets the plain sum of all values, whatever the scores are, and queries and keys get no gradient.
// Nothing fails; the model just never learns where to look.
//
// How the gradient flows. An einsum is a product, so each factor takes dO times the other, and the
// same letters say how:
//
//     dA = einsum("nqhd,nkhd->nhqk", dO, V)        dV = einsum("nhqk,nqhd->nkhd", A, dO)
//     dE = A * (dA - sum over k of A * dA)         softmax
//     dQ = einsum("nhqk,nkhd->nqhd", dE, K) / scale   dK = einsum("nhqk,nqhd->nkhd", dE, Q) / scale
//
// and, the projections being shared, dW_q = sum over batch, time AND heads of dQ x'.
#pragma once

#include "fovea/nn/attention/soft.h"
#include "fovea/nn/linear.h"

namespace fovea {

enum class AttentionScale {
  head,  ///< sqrt(head_dim), the paper's
  embed  ///< sqrt(embed_size), that of some tutorials
};

struct SelfAttentionOptions {
  int64_t embed_size = 0;  ///< a multiple of heads
  int64_t heads = 1;
  AttentionScale scale = AttentionScale::head;
  bool project = true;  ///< false: values, keys and queries are read as they are
  DType dtype = f32;
};

/// Parameters "values", "keys" and "queries", Linears of head_dim -> head_dim without bias, which
/// are there with project = false too, and "fc_out", embed_size -> embed_size with bias. ValueError
/// unless embed_size is a multiple of heads.
class SelfAttention : public Module {
 public:
  Linear values, keys, queries, fc_out;

  explicit SelfAttention(const SelfAttentionOptions& o);
  SelfAttention(int64_t embed_size, int64_t heads)
      : SelfAttention(SelfAttentionOptions{.embed_size = embed_size, .heads = heads}) {}

  /// v (B, Tk, E), k (B, Tk, E), q (B, Tq, E), in the tutorials' order, keep_mask as in mask.h ->
  /// (B, Tq, E). A query that may see no key gets fc_out of 0; keys that no query sees cannot reach
  /// the result, NaN included. ShapeError for other shapes.
  Tensor operator()(const Tensor& v, const Tensor& k, const Tensor& q,
                    const Tensor& keep_mask = {}) const;
  Tensor operator()(const Tensor& x) const { return (*this)(x, x, x); }
  /// A alone, (B, H, Tq, Tk).
  Tensor weights(const Tensor& k, const Tensor& q, const Tensor& keep_mask = {}) const;

  const SelfAttentionOptions& options() const { return o_; }
  void visit(Visitor& visitor) override;

 private:
  Tensor by_head(const Linear& projection, const Tensor& x, const Tensor& keep) const;
  SelfAttentionOptions o_;
};

}  // namespace fovea
