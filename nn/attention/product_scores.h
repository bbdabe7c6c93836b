// Scores that are products of the query with the key, plain or scaled, or through a matrix.
//
// With S = scores and dS its gradient, S = Q K' gives dQ = dS K and dK = dS' Q; what stands in
// front (1 / sqrt(D), beta) multiplies dS first. General: S = Q (K W')' gives dW = dQK' summed over
// the batch, Q' dS K: a key pulls W towards every query that should have seen more of it.
#pragma once

#include "fovea/nn/attention/score.h"
#include "fovea/nn/linear.h"

namespace fovea {

/// q . k, of equal widths. Luong 2015, section 3.1 ("dot"). No parameters.
class DotScore : public Score {
 public:
  DotScore() : Score("DotScore", 0, 0) {}
  void visit(Visitor&) override {}

 private:
  Tensor scores(const Tensor& q, const Tensor& keys) const override;
};

/// q . k / sqrt(D), D the width of both: of one head, where there are several. For q and k of
/// variance 1 the score then has variance 1 whatever D is, and softmax stays where it has a slope.
/// Vaswani 2017, eq. 1. No parameters.
class ScaledDotScore : public Score {
 public:
  ScaledDotScore() : Score("ScaledDotScore", 0, 0) {}
  void visit(Visitor&) override {}

 private:
  Tensor scores(const Tensor& q, const Tensor& keys) const override;
};

struct CosineScoreOptions {
  double beta = 1;      ///< at first
  bool learned = true;  ///< beta is a parameter
  DType dtype = f32;    ///< of beta
};
/// beta cos(q, k) = beta (q / |q|) . (k / |k|), of equal widths. A vector of zeros has the score 0
/// with everything and takes gradient 0. Graves 2014 (Neural Turing Machines), eq. 5 and 6; Liu
/// 2021 (Swin V2), eq. 2. Parameter "beta" (), the sharpness, unless it is fixed.
class CosineScore : public Score {
 public:
  Tensor beta;

  explicit CosineScore(const CosineScoreOptions& o = {});
  void visit(Visitor& v) override;

 private:
  Tensor of_keys(const Tensor& keys) const override;
  Tensor scores(const Tensor& q, const Tensor& unit_keys) const override;
  bool learned_;
};

struct GeneralScoreOptions {
  int64_t query_dim = 0;
  int64_t key_dim = 0;
  DType dtype = f32;
};
/// q' W k. Luong 2015, section 3.1 ("general"). Parameter "w", a Linear without bias, Dk -> Dq:
/// project() takes the keys to where queries are.
class GeneralScore : public Score {
 public:
  Linear w;

  explicit GeneralScore(const GeneralScoreOptions& o);
  void visit(Visitor& v) override { v("w", w); }

 private:
  Tensor of_keys(const Tensor& keys) const override { return w(keys); }
  Tensor scores(const Tensor& q, const Tensor& projected) const override;
};

}  // namespace fovea
