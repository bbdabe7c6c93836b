#include "fovea/nn/distributions.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kLogSqrt2Pi = 0.91893853320467274178;

void check_floating(const char* op, const char* arg, const Tensor& t) {
  if (!t.is_floating()) {
    throw DTypeError(fmt::format("{}: {} is {}; use f32 or f64", op, arg, name(t.dtype())));
  }
}

// log p (..., K) of weights: log_softmax takes logits as they are; weights are divided by their
// sum. The log of a weight 0 is never taken, so no infinite slope reaches a gradient.
Tensor log_of_weights(const Tensor& w) {
  const Tensor zero = eq(w, 0);
  const Tensor log_w = log(masked_fill(w, zero, 1));
  return masked_fill(log_w - log(sum(w, -1, keepdim)), zero, -kInf);
}

void check_rows(const char* arg, const Tensor& x, double impossible) {
  if (x.dim() == 0 || x.size(-1) == 0) {
    throw ShapeError(
        fmt::format("Categorical: {} is {}; need (..., K) with K >= 1", arg, x.shape().str()));
  }
  const NoGrad scope;
  // NaN fails both comparisons of a valid element.
  const bool valid = all(logical_and(ge(x, impossible), lt(x, kInf)));
  if (!valid) {
    throw ValueError(
        fmt::format("Categorical: {} {} holds NaN, infinite{}", arg, x.shape().str(),
                    impossible == 0 ? " or negative weights" : " logits other than -inf"));
  }
  if (!all(gt(amax(x, -1), impossible))) {
    throw ValueError(fmt::format("Categorical: {} {} has a row in which no class is possible", arg,
                                 x.shape().str()));
  }
}

// p log p and p (log p - log q) with 0 where p = 0, in value and gradient.
Tensor weighted(const Tensor& log_p, const Tensor& term) {
  return sum(exp(log_p) * masked_fill(term, eq(log_p, -kInf), 0), -1);
}

}  // namespace

Categorical::Categorical(const CategoricalOptions& o) {
  if (o.logits.defined() == o.probs.defined()) {
    throw ValueError("Categorical: give exactly one of logits and probs");
  }
  if (o.logits.defined()) {
    check_floating("Categorical", "logits", o.logits);
    check_rows("logits", o.logits, -kInf);
    log_probs_ = log_softmax(o.logits, -1);
  } else {
    check_floating("Categorical", "probs", o.probs);
    check_rows("probs", o.probs, 0);
    log_probs_ = log_of_weights(o.probs);
  }
}

Tensor Categorical::probs() const { return exp(log_probs_); }

Tensor Categorical::sample(Generator* g) const {
  const NoGrad scope;
  return select(multinomial(probs(), 1, true, g), -1, 0);
}

Tensor Categorical::sample(int64_t n, Generator* g) const {
  const NoGrad scope;
  const Tensor drawn = multinomial(probs(), n, true, g);  // (..., n)
  Shape order;
  order.push_back(drawn.dim() - 1);
  for (int d = 0; d + 1 < drawn.dim(); ++d) order.push_back(d);
  return contiguous(permute(drawn, Axes(order)));
}

Tensor Categorical::log_prob(const Tensor& value) const {
  Shape batch = log_probs_.shape();
  batch.erase(batch.rank() - 1);
  Shape shape = broadcast_shapes("Categorical::log_prob", value.shape(), batch);
  const Tensor index = unsqueeze(expand(value, shape), -1);
  shape.push_back(classes());
  return squeeze(gather(expand(log_probs_, shape), -1, index), -1);
}

Tensor Categorical::entropy() const { return neg(weighted(log_probs_, log_probs_)); }

Tensor kl(const Categorical& p, const Categorical& q) {
  if (p.classes() != q.classes()) {
    throw ShapeError(
        fmt::format("kl: p has {} classes, q has {}; they must agree", p.classes(), q.classes()));
  }
  return weighted(p.log_probs(), p.log_probs() - q.log_probs());
}

Normal::Normal(Tensor loc, Tensor scale) : loc_(std::move(loc)), scale_(std::move(scale)) {
  check_floating("Normal", "loc", loc_);
  check_floating("Normal", "scale", scale_);
  (void)broadcast_shapes("Normal", loc_.shape(), scale_.shape());
  const NoGrad scope;
  if (!all(gt(scale_, 0))) {
    throw ValueError(fmt::format("Normal: scale {} holds NaN or numbers that are not positive",
                                 scale_.shape().str()));
  }
}

Tensor Normal::sample(Generator* g) const {
  const NoGrad scope;
  return rsample(g);
}

Tensor Normal::rsample(Generator* g) const {
  const Shape batch = broadcast_shapes("Normal", loc_.shape(), scale_.shape());
  return loc_ + scale_ * randn(batch, promote(loc_.dtype(), scale_.dtype()), g);
}

Tensor Normal::log_prob(const Tensor& value) const {
  return -0.5 * square((value - loc_) / scale_) - log(scale_) - kLogSqrt2Pi;
}

Tensor Normal::entropy() const {
  const Shape batch = broadcast_shapes("Normal", loc_.shape(), scale_.shape());
  return expand(log(scale_) + (0.5 + kLogSqrt2Pi), batch);
}

Tensor Normal::cdf(const Tensor& value) const {
  return 0.5 * (erf((value - loc_) / (scale_ * std::numbers::sqrt2)) + 1);
}

Tensor kl(const Normal& p, const Normal& q) {
  const Tensor ratio = p.scale() / q.scale();
  return 0.5 * (square(ratio) + square((p.loc() - q.loc()) / q.scale()) - 1) - log(ratio);
}

}  // namespace fovea
