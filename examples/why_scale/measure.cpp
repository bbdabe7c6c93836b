#include "examples/why_scale/measure.h"

#include "fovea/core/engine.h"
#include "fovea/ops/ops.h"

namespace fovea::why_scale {
namespace {

// Of each vector along the last axis, as one row.
Tensor norms(const Tensor& x) { return flatten(norm(x, 2, -1)); }

double median(const Tensor& row) { return kthvalue(row, row.numel() / 2 + 1).values.item(); }

}  // namespace

Scores::Scores(int64_t d, const Sample& sample)
    : q_(randn({sample.batches, sample.keys, d}).requires_grad_()),
      k_(randn({sample.batches, sample.keys, d})),
      u_(randn({sample.batches, sample.keys, sample.keys})) {}

Spread Scores::divided_by(double divisor) const {
  const Tensor s = matmul(q_, transpose(k_, 1, 2)) / divisor;
  const Tensor log_p = log_softmax(s);
  // Through log p, which is exact where p itself rounds to 0.
  const Tensor p = exp(log_p);
  const Tensors g = grad(sum(u_ * p), {s, q_});
  const NoGrad scope;
  const Tensor of_scores = norms(g[0]);
  return {.variance = var(s, {}, 0).item(),
          .entropy = -mean(sum(p * log_p, -1)).item(),
          .gradient = median(of_scores),
          .mean_gradient = mean(of_scores).item(),
          .gradient_q = median(norms(g[1]))};
}

}  // namespace fovea::why_scale
