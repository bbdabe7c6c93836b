// Losses that are compositions, and what all losses share.
#include "fovea/ops/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/ops/internal.h"

namespace fovea {

namespace detail {

Tensor check_targets(const char* op, const char* arg, const Tensor& x, const Tensor& target,
                     int64_t ignore_index) {
  check_floating(op, arg, x);
  check_dtype(op, "target", target, i64);
  Shape want = x.shape();
  if (x.dim() > 0) want.erase(x.dim() - 1);
  if (x.dim() == 0 || !(target.shape() == want)) {
    throw ShapeError(fmt::format("{}: {} is {}, target is {}; need {} (..., V) and target (...)",
                                 op, arg, x.shape().str(), target.shape().str(), arg));
  }
  const int64_t v = x.shape().back();
  const Tensor ids = reshape(packed(target), {target.numel()});
  for (int64_t i = 0; i < ids.numel(); ++i) {
    const int64_t t = ids.data<int64_t>()[i];
    if (t != ignore_index && (t < 0 || t >= v)) {
      throw IndexError(
          fmt::format("{}: target is {} at element {} of {}, {} is {}; need 0 to {}, or {} to "
                      "ignore it",
                      op, t, i, target.shape().str(), arg, x.shape().str(), v - 1, ignore_index));
    }
  }
  return ids;
}

Tensor check_class_weight(const char* op, const Tensor& weight, const char* arg, const Tensor& x) {
  if (!weight.defined()) return {};
  check_floating(op, "weight", weight);
  if (weight.dim() != 1 || weight.size(0) != x.shape().back()) {
    throw ShapeError(fmt::format("{}: weight is {}, {} is {}; need one number a class, [{}]", op,
                                 weight.shape().str(), arg, x.shape().str(), x.shape().back()));
  }
  if (weight.requires_grad() && grad_recording()) {
    throw GraphError(fmt::format(
        "{}: weight requires a gradient, which class weights have none of; detach() it", op));
  }
  return packed(to(weight.detach(), x.dtype()));
}

Tensor reduce_targets(const Tensor& loss, const Tensor& ids, const Tensor& weight,
                      const Shape& shape, int64_t ignore_index, Reduction r) {
  if (r == Reduction::none) return reshape(loss, shape);
  const Tensor total = sum(loss);
  if (r == Reduction::sum) return total;
  double count = 0;
  for (const int64_t t : ids.to_vector<int64_t>()) {
    if (t != ignore_index) count += weight.defined() ? weight.at({t}) : 1;
  }
  return count == 0 ? total * 0 : total / count;
}

Tensor reduce(const Tensor& loss, Reduction r) {
  if (r == Reduction::none) return loss;
  return r == Reduction::sum ? sum(loss) : mean(loss);
}

namespace {

void check_same_shape(const char* op, const char* arg, const Tensor& x, const Tensor& target) {
  check_floating(op, arg, x);
  check_floating(op, "target", target);
  if (x.shape() == target.shape()) return;
  throw ShapeError(
      fmt::format("{}: {} is {}, target is {}; the shapes must be equal, expand() one of them if "
                  "broadcasting is meant",
                  op, arg, x.shape().str(), target.shape().str()));
}

}  // namespace
}  // namespace detail

// loss = -weight[target] log_probs[target], 0 where ignored.
Tensor nll_loss(const Tensor& log_probs, const Tensor& target, const NllOptions& o) {
  const Tensor ids =
      detail::check_targets("nll_loss", "log_probs", log_probs, target, o.ignore_index);
  const Tensor w = detail::check_class_weight("nll_loss", o.weight, "log_probs", log_probs);
  const Tensor rows = reshape(log_probs, {ids.numel(), log_probs.shape().back()});
  const Tensor ignored = ids == o.ignore_index;
  const Tensor at = where(ignored, zeros_like(ids), ids);
  Tensor loss = neg(squeeze(gather(rows, -1, unsqueeze(at, -1)), -1));
  if (w.defined()) {
    const Tensor weight = index_select(w, 0, at);
    loss = masked_fill(loss * weight, weight == 0, 0);  // also where log_probs is -inf
  }
  loss = masked_fill(loss, ignored, 0);
  return detail::reduce_targets(loss, ids, w, target.shape(), o.ignore_index, o.reduction);
}

// loss = (x - target)^2
Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction r) {
  detail::check_same_shape("mse_loss", "x", x, target);
  return detail::reduce(square(x - target), r);
}

// -[t log s(x) + (1 - t) log(1 - s(x))] = softplus(x) - t x = softplus(-x) + (1 - t) x. Neither can
// overflow, and each is a sum of two positive numbers on its side of 0, so that nothing cancels. An
// infinite logit that is right costs nothing, where 0 * inf would be NaN.
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target, Reduction r) {
  detail::check_same_shape("binary_cross_entropy_with_logits", "x", x, target);
  const auto loss = [&target](const Tensor& z) {
    return where(z.detach() >= 0, softplus(neg(z)) + (1 - target) * z, softplus(z) - target * z);
  };
  if (!any(isinf(x))) return detail::reduce(loss(x), r);
  const Tensor right = logical_or(logical_and(x == detail::kInf, target == 1),
                                  logical_and(x == -detail::kInf, target == 0));
  return detail::reduce(masked_fill(loss(masked_fill(x, right, 0)), right, 0), r);
}

// -[t log p + (1 - t) log(1 - p)]; the logarithms are kept above -100, as in PyTorch, so that the
// loss is finite at p = 0 and p = 1.
Tensor binary_cross_entropy(const Tensor& p, const Tensor& target, Reduction r) {
  detail::check_same_shape("binary_cross_entropy", "p", p, target);
  const Tensor outside = logical_not(logical_and(p.detach() >= 0, p.detach() <= 1));
  if (any(outside)) {
    throw ValueError(
        fmt::format("binary_cross_entropy: p {} holds a value outside [0, 1]; pass logits to "
                    "binary_cross_entropy_with_logits",
                    p.shape().str()));
  }
  const auto kept_log = [](const Tensor& q) {
    // exp(-100); in f32 that is subnormal, and may be read as 0
    const Tensor tiny = logical_or(q.detach() <= 0, q.detach() < 3.8e-44);
    return masked_fill(log(masked_fill(q, tiny, 1)), tiny, -100);
  };
  return detail::reduce(neg(target * kept_log(p) + (1 - target) * kept_log(1 - p)), r);
}

// loss = |x - target|; gradient 0 where they are equal
Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction r) {
  detail::check_same_shape("l1_loss", "x", x, target);
  return detail::reduce(abs(x - target), r);
}

Tensor huber_loss(const Tensor& x, const Tensor& target, double delta, Reduction r) {
  detail::check_same_shape("huber_loss", "x", x, target);
  if (!(delta > 0) || !std::isfinite(delta)) {
    throw ValueError(fmt::format("huber_loss: delta is {}; it must be above 0 and finite", delta));
  }
  const Tensor a = abs(x - target);
  const Tensor near = clamp(a, 0, delta);  // d^2 / 2 up to delta, then delta (|d| - delta)
  return detail::reduce(square(near) * 0.5 + (a - near) * delta, r);
}

// target (log target - log_x); where the target is 0 so is the loss, whatever log_x is.
Tensor kl_div(const Tensor& log_x, const Tensor& target, Reduction r) {
  detail::check_same_shape("kl_div", "log_x", log_x, target);
  const Tensor none = target.detach() == 0;
  const Tensor t = masked_fill(target, none, 1);
  return detail::reduce(masked_fill(t * (log(t) - log_x), none, 0), r);
}

}  // namespace fovea
