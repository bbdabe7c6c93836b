// Probability distributions over the last axis (Categorical) or elementwise (Normal). Names and
// meanings are torch.distributions'. Parameters may require gradients; log_prob, entropy, kl and
// rsample record them. Numbers come from the default generator unless one is given.
#pragma once

#include "fovea/core/random.h"
#include "fovea/core/tensor.h"

namespace fovea {

/// Exactly one of the two, (..., K) floats.
struct CategoricalOptions {
  Tensor logits = {};  ///< log-weights, which need not be normalised; -inf is an impossible class
  Tensor probs = {};   ///< weights >= 0, which need not sum to 1
};

/// One of K classes. ValueError unless exactly one parameter is given, on NaN or +inf, on negative
/// weights, and on a row in which every class is impossible; ShapeError on a scalar or on K = 0;
/// DTypeError unless floating.
class Categorical {
 public:
  explicit Categorical(const CategoricalOptions& o);

  const Tensor& log_probs() const { return log_probs_; }  ///< (..., K), normalised
  Tensor probs() const;                                   ///< (..., K)
  int64_t classes() const { return log_probs_.size(-1); }

  /// i64 (...), each in [0, K); a class of probability 0 is never drawn. No gradient.
  Tensor sample(Generator* g = nullptr) const;
  /// i64 (n, ...): n draws.
  Tensor sample(int64_t n, Generator* g = nullptr) const;
  /// value i64, broadcast against (...). -inf for an impossible class. IndexError outside [0, K).
  Tensor log_prob(const Tensor& value) const;
  /// -sum p log p in nats, (...). An impossible class adds 0 to value and gradient.
  Tensor entropy() const;

 private:
  Tensor log_probs_;
};

/// sum p log(p / q), (...). Classes with p = 0 add 0; q = 0 < p gives inf. ShapeError unless both
/// have K classes and their batches broadcast.
Tensor kl(const Categorical& p, const Categorical& q);

/// N(loc, scale^2), elementwise; loc and scale broadcast to the batch shape. ValueError unless
/// every scale is positive; DTypeError unless both are floating.
class Normal {
 public:
  Normal(Tensor loc, Tensor scale);

  const Tensor& loc() const { return loc_; }
  const Tensor& scale() const { return scale_; }

  /// loc + scale * eps, detached: score-function gradients need a constant sample.
  Tensor sample(Generator* g = nullptr) const;
  /// The same, differentiable in loc and scale (Kingma & Welling 2013).
  Tensor rsample(Generator* g = nullptr) const;
  /// -(value - loc)^2 / (2 scale^2) - log scale - log sqrt(2 pi)
  Tensor log_prob(const Tensor& value) const;
  /// 1/2 + log sqrt(2 pi) + log scale, of the batch shape.
  Tensor entropy() const;
  /// P(x <= value)
  Tensor cdf(const Tensor& value) const;

 private:
  Tensor loc_, scale_;
};

/// log(sq / sp) + (sp^2 + (mp - mq)^2) / (2 sq^2) - 1/2, elementwise.
Tensor kl(const Normal& p, const Normal& q);

}  // namespace fovea
