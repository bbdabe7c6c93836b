// Scores by a small network with one hidden layer: v' tanh(W_q q + W_k k), or the same with one
// matrix W on the concatenation [q ; k]. The two are one mapping: W [q ; k] = W_q q + W_k k where
// W_q is W's columns for q and W_k those for k.
//
// How the gradient flows. With t = tanh(W_q q_i + W_k k_j) and dS from softmax, the hidden layer
// takes d = dS_ij v (1 - t^2), the same for W_q q_i (summed over the keys j) and W_k k_j (summed
// over the queries i); v takes sum_ij dS_ij t. From there W_q takes d q', W_k takes d k', and b
// takes d. A unit that has run into +-1 passes nothing on. ops/additive_scores.cpp does this
// without storing (Tq, Tk, h) numbers in either direction.
#pragma once

#include "fovea/nn/attention/score.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct AdditiveScoreOptions {
  int64_t query_dim = 0;
  int64_t key_dim = 0;
  int64_t hidden = 0;  ///< h, the width of the hidden layer
  DType dtype = f32;
};

/// v' tanh(W_q q + W_k k). Bahdanau 2014, appendix A.1.2. Parameters "w_q" and "w_k", Linears
/// without bias, and "v" (h), uniform in +-1 / sqrt(h) at first. project(keys) is W_k k.
class AdditiveScore : public Score {
 public:
  Linear w_q, w_k;
  Tensor v;

  explicit AdditiveScore(const AdditiveScoreOptions& o);
  void visit(Visitor& visitor) override;

 private:
  Tensor of_keys(const Tensor& keys) const override { return w_k(keys); }
  Tensor scores(const Tensor& q, const Tensor& projected) const override;
};

/// v' tanh(W [q ; k] + b). Luong 2015, section 3.1 ("concat"), with b. Parameters "w", a Linear of
/// Dq + Dk -> h with the columns of the query first, and "v" (h). Nothing is concatenated:
/// project(keys) is W_k k.
class ConcatScore : public Score {
 public:
  Linear w;
  Tensor v;

  explicit ConcatScore(const AdditiveScoreOptions& o);
  void visit(Visitor& visitor) override;

 private:
  Tensor of_keys(const Tensor& keys) const override;
  Tensor scores(const Tensor& q, const Tensor& projected) const override;
};

/// The two summands of W [q ; k] + b: W_q q + b and W_k k, for w of Dq + Dk -> h.
Tensor query_part(const Linear& w, const Tensor& q);
Tensor key_part(const Linear& w, const Tensor& keys);

}  // namespace fovea
