// cross_entropy of logits.                  logits, gx: (..., V); target: (...), i64; loss: (...)
// forward   loss = (1 - e) w_t (L - x_t) + e / V sum_k w_k (L - x_k),
//           L = logsumexp(x), e the smoothing, w the class weights (1 without any)
// backward  gx_k = g (p_k a - (1 - e) w_t [k = t] - e / V w_k),   p_k = exp(x_k - m) / s,
//           a = (1 - e) w_t + e / V sum_k w_k;   0 for an ignored row, one whose weights are 0,
//           and at every logit of -inf
// saves     logits, m = max x and s = sum exp(x - m): neither the probabilities nor their
// logarithms
//           are stored. L = m + log s alone would not do: at logits of 1e8 it has lost log s
#include <fmt/format.h>

#include <limits>

#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/rows.h"
#include "fovea/ops/loss.h"

namespace fovea {
namespace {

// scale: (rows), the gradient of each row's loss, 0 for an ignored row. x: (rows, V); w: (V).
Tensor cross_entropy_vjp(const Tensor& x, const Tensor& target, const Tensor& w,
                         const Tensor& scale, const CrossEntropyOptions& o) {
  const int64_t v = x.shape().back();
  const double even = o.label_smoothing / static_cast<double>(v);
  const Tensor keep = target != o.ignore_index;
  const Tensor hot = to(one_hot(where(keep, target, zeros_like(target)), v), x.dtype());
  const Tensor aim = w.defined() ? (hot * (1 - o.label_smoothing) + even) * w
                                 : hot * (1 - o.label_smoothing) + even;
  const Tensor total = sum(aim, -1, true);
  const Tensor g = unsqueeze(scale, -1) * (softmax(x, -1) * total - aim);
  const Tensor nothing = logical_or(unsqueeze(logical_not(keep), -1), total == 0);
  return masked_fill(g, logical_or(nothing, x == -std::numeric_limits<double>::infinity()), 0);
}

Tensor cross_entropy_vjp_fused(const Tensor& x, const Tensor& target, const Tensor& w,
                               const Tensor& m, const Tensor& total, const Tensor& scale,
                               const CrossEntropyOptions& o) {
  const Tensor p = detail::packed(x);
  const Tensor s = detail::packed(scale);
  Tensor gx = detail::empty_as(x);
  const int64_t v = x.shape().back();
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(target.numel(), grain_for(v * 4), [&](int64_t b, int64_t e) {
      kernels::cross_entropy_backward_rows(
          p.data<T>() + b * v, m.data<T>() + b, total.data<T>() + b, target.data<int64_t>() + b,
          o.ignore_index, o.label_smoothing, w.defined() ? w.data<T>() : nullptr, s.data<T>() + b,
          gx.data<T>() + b * v, e - b, v, kernels::worth_streaming(x.numel() * int64_t{sizeof(T)}));
    });
  });
  return gx;
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& o) {
  const Tensor ids =
      detail::check_targets("cross_entropy", "logits", logits, target, o.ignore_index);
  if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1)) {
    throw ValueError(fmt::format("cross_entropy: label_smoothing is {}; it must be in [0, 1]",
                                 o.label_smoothing));
  }
  const int64_t v = logits.shape().back();
  const Tensor w = detail::check_class_weight("cross_entropy", o.weight, "logits", logits);
  const Tensor rows = reshape(logits, {ids.numel(), v});
  const Tensor p = detail::packed(rows);
  Tensor loss = Tensor::empty({ids.numel()}, logits.dtype());
  const Tensor m = detail::empty_as(loss), total = detail::empty_as(loss);
  visit_floating(logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(ids.numel(), grain_for(v * 4), [&](int64_t b, int64_t e) {
      kernels::cross_entropy_rows(p.data<T>() + b * v, ids.data<int64_t>() + b, o.ignore_index,
                                  o.label_smoothing, w.defined() ? w.data<T>() : nullptr,
                                  loss.data<T>() + b, m.data<T>() + b, total.data<T>() + b, e - b,
                                  v);
    });
  });
  loss = record("cross_entropy", std::move(loss), {rows},
                {save_input("logits", rows), save_input("target", ids), save_extra("max", m),
                 save_extra("sum", total), save_if(w.defined(), save_input("weight", w))},
                [o](const Saved& s, const Tensor& gy) {
                  return use_formula()
                             ? cross_entropy_vjp(s[0], s[1], s[4], gy, o)
                             : cross_entropy_vjp_fused(s[0], s[1], s[4], s[2], s[3], gy, o);
                });
  return detail::reduce_targets(loss, ids, w, target.shape(), o.ignore_index, o.reduction);
}

}  // namespace fovea
