// Attention with all scores in memory: what its kinds share that are not fused. Not public.
#pragma once

#include "fovea/ops/ops.h"

namespace fovea::detail {

/// Whether what has this shape can be shown as `to` without growing it.
bool broadcasts_to(const Shape& shape, const Shape& to);

/// x (.., Hk, T, D) with every head repeated for the queries of its group: (.., H, T, D).
Tensor for_every_query_head(const Tensor& x, const Tensor& q);

/// Throws unless q (..., H, Tq, D), k (..., Hk, Tk, D), v (..., Hk, Tk, Dv) and the options fit
/// each other.
void check_attention(const char* op, const Tensor& q, const Tensor& k, const Tensor& v,
                     const AttentionOptions& o);

/// Which scores count, by mask, order and window: bool that broadcasts to (..., H, Tq, Tk), or
/// undefined when all do.
Tensor kept_scores(const Tensor& q, const Tensor& k, const AttentionOptions& o);

/// Scores, and what they weigh. Keys that no query sees are 0 in both, so that not even a NaN in
/// them is met.
struct AttentionScores {
  Tensor scores;  ///< scale q k' + bias, (..., H, Tq, Tk)
  Tensor values;  ///< (..., H, Tk, Dv): those of a group for each of its heads
  Tensor keep;    ///< as kept_scores gives it
};
AttentionScores attention_scores(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const AttentionOptions& o);

/// f along the last axis of what keep (may be undefined) keeps of x: f sees -inf in place of the
/// rest, which gets 0, and so does a row of which nothing is kept, or nothing above -inf. What is
/// masked gets gradient 0.
Tensor masked_weights(const Tensor& x, const Tensor& keep, Tensor (*f)(const Tensor&));

}  // namespace fovea::detail
