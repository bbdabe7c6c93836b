// Attention.    q: (..., H, Tq, D), k: (..., Hk, Tk, D), v: (..., Hk, Tk, Dv); y: (..., H, Tq, Dv)
// forward   S = scale q k',  P = softmax of what the mask keeps of S,  y = P v
// backward  dv = P' dy,  dP = dy v',  dS = P (dP - rowsum(P dP)),  dq = scale dS k,
//           dk = scale dS' q                                   (Vaswani 2017, eq. 1)
// saves     q, k, v, y and the log-sum-exp of each row of S: P is made again, tile by tile
// The fused bodies are in attention_forward.cpp and attention_backward.cpp and store nothing of
// size Tq x Tk. The rule here does: differentiating twice costs that, and so does a bias.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "fovea/ops/attention_dense.h"
#include "fovea/ops/internal.h"

namespace fovea {
namespace {

Tensor over_keys(const Tensor& scores) { return softmax(scores, -1); }
Tensor weights_of(const detail::DenseAttention& a) {
  return detail::masked_weights(a.scores, a.keep, over_keys);
}

// The rule, in ops. Runs when someone will differentiate again.
std::array<Tensor, 3> attention_vjp(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Tensor& gy, const detail::AttentionCall& call) {
  const detail::DenseAttention a = detail::dense_attention(q, k, v, call);
  const auto dropped = [&](const Tensor& x) {
    return detail::dropout_by_key(x, call.dropout, call.key);
  };
  const Tensor p = weights_of(a);
  const Tensor gv = matmul(transpose(dropped(p), -2, -1), gy);
  const Tensor gp = dropped(matmul(gy, transpose(a.v, -2, -1)));
  const Tensor gs = p * (gp - sum(p * gp, -1, keepdim)) * call.scale;
  const Tensor gk = matmul(transpose(gs, -2, -1), q);
  return {matmul(gs, a.k), detail::over_group(detail::without_unseen(gk, a.seen), k),
          detail::over_group(detail::without_unseen(gv, a.seen), v)};
}

}  // namespace

Tensor masked_softmax(const Tensor& x, const Tensor& keep) {
  detail::check_floating("masked_softmax", "x", x);
  detail::check_dtype("masked_softmax", "keep", keep, boolean);
  if (x.dim() == 0) {
    throw ShapeError("masked_softmax: x is []; its last axis must be the choices");
  }
  if (!detail::broadcasts_to(keep.shape(), x.shape())) {
    throw ShapeError(fmt::format("masked_softmax: x is {}, keep is {}; keep must broadcast to x",
                                 x.shape().str(), keep.shape().str()));
  }
  return detail::masked_weights(x, keep, over_keys);
}

Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& o) {
  AttentionOptions kept = o;
  kept.dropout = 0;
  const auto call = detail::checked_attention("attention_weights", q, k, k, kept);
  return weights_of(detail::dense_attention(q, k, k, call));
}

Tensor scaled_dot_product_attention(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
                                    const AttentionOptions& o) {
  constexpr const char* op = "scaled_dot_product_attention";
  detail::AttentionCall call = detail::checked_attention(op, q_in, k_in, v_in, o);
  if (call.scale == 0) {  // BLAS would skip the product, and with it a NaN in k
    AttentionOptions one = o;
    one.scale = 1;
    return scaled_dot_product_attention(q_in * 0, k_in, v_in, one);
  }
  if (call.bias.defined()) {
    const auto a = detail::dense_attention(q_in, k_in, v_in, call);
    return matmul(detail::dropout_by_key(weights_of(a), call.dropout, call.key), a.v);
  }
  const DType t = promote(promote(q_in.dtype(), k_in.dtype()), v_in.dtype());
  const Tensor q = to(q_in, t), k = to(k_in, t), v = to(v_in, t);
  const detail::FusedAttention kept = detail::fused_attention(q, k, v, call);
  const Tensor mask = call.keep_mask;
  call.keep_mask = {};  // it is saved, where changing it in place shows
  return record(op, kept.y, {q, k, v},
                {save_input("q", q), save_input("k", k), save_input("v", v), save_output(kept.y),
                 save_extra("top", kept.top), save_extra("total", kept.total),
                 save_if(mask.defined(), save_input("keep_mask", mask))},
                [call](const Saved& s, const Tensor& gy) {
                  detail::AttentionCall again = call;
                  again.keep_mask = s[6];
                  return use_formula() ? attention_vjp(s[0], s[1], s[2], gy, again)
                                       : detail::fused_attention_vjp(s[0], s[1], s[2],
                                                                     {s[3], s[4], s[5]}, gy, again);
                });
}

}  // namespace fovea
