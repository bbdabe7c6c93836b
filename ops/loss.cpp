// Losses that are compositions, and what all losses share.
#include "fovea/ops/loss.h"

#include <fmt/format.h>

#include <algorithm>

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
      throw IndexError(fmt::format("{}: target {} at position {}; need 0 to {}, or {} to ignore it",
                                   op, t, i, v - 1, ignore_index));
    }
  }
  return ids;
}

Tensor reduce_targets(const Tensor& loss, const Tensor& ids, const Shape& shape,
                      int64_t ignore_index, Reduction r) {
  if (r == Reduction::none) return reshape(loss, shape);
  const Tensor total = sum(loss);
  if (r == Reduction::sum) return total;
  const int64_t* p = ids.data<int64_t>();
  const auto count = ids.numel() - std::count(p, p + ids.numel(), ignore_index);
  return total / static_cast<double>(std::max<int64_t>(1, count));
}

Tensor reduce(const Tensor& loss, Reduction r) {
  if (r == Reduction::none) return loss;
  return r == Reduction::sum ? sum(loss) : mean(loss);
}

namespace {

void check_same_shape(const char* op, const Tensor& x, const Tensor& target) {
  check_floating(op, "x", x);
  check_floating(op, "target", target);
  if (x.shape() == target.shape()) return;
  throw ShapeError(
      fmt::format("{}: x is {}, target is {}; the shapes must be equal, expand() one of "
                  "them if broadcasting is meant",
                  op, x.shape().str(), target.shape().str()));
}

}  // namespace
}  // namespace detail

// loss = -log_probs[target], 0 where ignored.
Tensor nll_loss(const Tensor& log_probs, const Tensor& target, const NllOptions& o) {
  const Tensor ids =
      detail::check_targets("nll_loss", "log_probs", log_probs, target, o.ignore_index);
  const Tensor rows = reshape(log_probs, {ids.numel(), log_probs.shape().back()});
  const Tensor ignored = ids == o.ignore_index;
  const Tensor at = unsqueeze(where(ignored, zeros_like(ids), ids), -1);
  const Tensor loss = masked_fill(neg(squeeze(gather(rows, -1, at), -1)), ignored, 0);
  return detail::reduce_targets(loss, ids, target.shape(), o.ignore_index, o.reduction);
}

// loss = (x - target)^2
Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction r) {
  detail::check_same_shape("mse_loss", x, target);
  return detail::reduce(square(x - target), r);
}

// -[t log s(x) + (1 - t) log(1 - s(x))] = softplus(x) - t x, which cannot overflow.
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target, Reduction r) {
  detail::check_same_shape("binary_cross_entropy_with_logits", x, target);
  return detail::reduce(softplus(x) - target * x, r);
}

}  // namespace fovea
