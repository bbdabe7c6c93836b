// What the two bodies of attention share. Not public.
#pragma once

#include "fovea/core/random.h"
#include "fovea/ops/ops.h"

namespace fovea::detail {

/// A call after its checks.
struct AttentionCall {
  Tensor keep_mask = {};  ///< undefined, or bool that broadcasts to (..., H, Tq, Tk)
  Tensor bias = {};       ///< for the dense body only
  Causal causal = Causal::none;
  std::optional<int64_t> window = {};
  double scale = 1;
  double dropout = 0;
  RandomKey key = {};  ///< of the dropout
  bool by_position() const { return causal != Causal::none || window.has_value(); }
  /// Query i stands at key i + ahead: it sees keys up to that one, or the window about it.
  int64_t ahead(int64_t tq, int64_t tk) const { return causal == Causal::upper_left ? 0 : tk - tq; }
};

/// y (..., H, Tq, Dv) and, for each row of scores, its largest score `top` and the sum `total` of
/// exp(score - top), both (..., H, Tq): +inf and 1 for a query that sees nothing. Tiles of 64 x 64;
/// nothing of size Tq x Tk is ever stored. Unrecorded.
struct FusedAttention {
  Tensor y, top, total;
};
FusedAttention fused_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                               const AttentionCall& call);
/// The gradients of q, k and v. Dao 2022, algorithm 4.
std::array<Tensor, 3> fused_attention_vjp(const Tensor& q, const Tensor& k, const Tensor& v,
                                          const FusedAttention& kept, const Tensor& gy,
                                          const AttentionCall& call);

}  // namespace fovea::detail
