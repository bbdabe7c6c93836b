// Attention whose weights are projections on the simplex.
//               q: (..., H, Tq, D), k: (..., Hk, Tk, D), v: (..., Hk, Tk, Dv); y: (..., H, Tq, Dv)
// forward   S = scale q k' + bias,  P = the projection of what the mask keeps of S,  y = P v
// backward  that of its parts: see sparse.cpp for dS from dP. Where P is 0 so is dS, and the values
//           there get nothing.               (Martins & Astudillo 2016; Peters 2019)
// saves     what its parts save, of size Tq x Tk
// A NaN among the keys is kept out where no query sees it, not where only some do not.
#include "fovea/ops/attention_dense.h"
#include "fovea/ops/internal.h"

namespace fovea {
namespace {

Tensor sparse_attention(const char* op, const Tensor& q, const Tensor& k, const Tensor& v,
                        const AttentionOptions& o, Tensor (*project)(const Tensor&)) {
  const detail::AttentionCall call = detail::checked_attention(op, q, k, v, o);
  const detail::DenseAttention a = detail::dense_attention(q, k, v, call);
  if (k.size(-2) == 0) return matmul(a.scores, a.v);
  const Tensor weights = detail::masked_weights(a.scores, a.keep, project);
  return matmul(detail::dropout_by_key(weights, call.dropout, call.key), a.v);
}

}  // namespace

Tensor sparsemax_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                           const AttentionOptions& o) {
  return sparse_attention("sparsemax_attention", q, k, v, o,
                          [](const Tensor& x) { return sparsemax(x, -1); });
}

Tensor entmax15_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                          const AttentionOptions& o) {
  return sparse_attention("entmax15_attention", q, k, v, o,
                          [](const Tensor& x) { return entmax15(x, -1); });
}

}  // namespace fovea
