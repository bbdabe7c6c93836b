// What the bodies of linear attention share. Not public.
#pragma once

#include "fovea/ops/ops.h"

namespace fovea::detail {

/// What messages call the first two operands.
struct FeatureNames {
  const char *q, *k;
};
/// Throws unless q (..., Tq, M), k (..., Tk, M), v (..., Tk, Dv) and the mask fit each other.
void check_linear_attention(const char* op, const FeatureNames& names, const Tensor& q,
                            const Tensor& k, const Tensor& v, const Tensor& keep_mask);

/// Keys that the mask (undefined, or of keys (..., Tk)) hides become 0, NaN included, and get no
/// gradient.
Tensor without_hidden(const Tensor& x, const Tensor& keep_mask);

/// y (..., Tq, Dv) and one over each denominator (..., Tq): 0 for a query that sees no key, and
/// where the denominator is 0. In chunks, with a state of M x (Dv + 1) a head. Unrecorded.
struct FusedFeatureAttention {
  Tensor y, inverse;
};
FusedFeatureAttention fused_feature_attention(const Tensor& fq, const Tensor& fk, const Tensor& v,
                                              const LinearAttentionOptions& o);
/// The gradients of fq, fk and v.
std::array<Tensor, 3> fused_feature_attention_vjp(const Tensor& fq, const Tensor& fk,
                                                  const Tensor& v,
                                                  const FusedFeatureAttention& kept,
                                                  const Tensor& gy,
                                                  const LinearAttentionOptions& o);

}  // namespace fovea::detail
