// What the two bodies of attention share. Not public.
#pragma once

#include "fovea/core/random.h"
#include "fovea/ops/ops.h"

namespace fovea::detail {

/// A call after its checks.
struct AttentionCall {
  Tensor keep_mask;  ///< undefined, or bool that broadcasts to (..., H, Tq, Tk)
  Causal causal = Causal::none;
  double scale = 1;
  double dropout = 0;
  RandomKey key = {};  ///< of the dropout
  /// Keys that query i sees by position end at i + ahead.
  int64_t ahead(const Tensor& q, const Tensor& k) const {
    return causal == Causal::lower_right ? k.size(-2) - q.size(-2) : 0;
  }
};

/// y (..., H, Tq, Dv) and the logarithm of each row's sum of exponentials, (..., H, Tq): +inf for a
/// query that sees nothing. Tiles of 64 x 64, nothing of size Tq x Tk is ever stored. Unrecorded.
struct FusedAttention {
  Tensor y, lse;
};
FusedAttention fused_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                               const AttentionCall& call);
/// The gradients of q, k and v. Dao 2022, algorithm 4.
std::array<Tensor, 3> fused_attention_vjp(const Tensor& q, const Tensor& k, const Tensor& v,
                                          const FusedAttention& kept, const Tensor& gy,
                                          const AttentionCall& call);

}  // namespace fovea::detail
