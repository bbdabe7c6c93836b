// Attention with all Tq x Tk weights in memory: what its formula, its weights and its sparse kinds
// are made of. In ops, so that any order of derivative works. Not public.
#pragma once

#include "fovea/ops/attention.h"

namespace fovea::detail {

/// Whether what has this shape can be shown as `to` without growing it.
bool broadcasts_to(const Shape& shape, const Shape& to);

/// Checks the operands and the options; the names of the arguments are q, k and v.
AttentionCall checked_attention(const char* op, const Tensor& q, const Tensor& k, const Tensor& v,
                                const AttentionOptions& o);

/// Operands of which nothing is left that no query may see, and one key head for every query head.
struct DenseAttention {
  Tensor keep;    ///< bool, broadcasts to (..., Tq, Tk); undefined when every query sees every key
  Tensor k, v;    ///< (..., H, Tk, D), (..., H, Tk, Dv)
  Tensor seen;    ///< the keys that any query sees, (..., Tk, 1), undefined as keep
  Tensor scores;  ///< scale q k' + bias, (..., H, Tq, Tk)
};
DenseAttention dense_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                               const AttentionCall& call);

/// f along the last axis of what keep (may be undefined) keeps of x. The rest takes part as -inf
/// and gets 0. A row of nothing else, masked or not, would be no distribution: it goes through f as
/// zeros and is then emptied, and with it its gradient.
Tensor masked_weights(const Tensor& x, const Tensor& keep, Tensor (*f)(const Tensor&));

/// x (.., Hk, T, D) with every head repeated for the queries of its group: (.., H, T, D).
Tensor for_every_query_head(const Tensor& x, const Tensor& q);

/// What belongs to keys that no query may see becomes 0, so that not even a NaN in it is met: 0 *
/// NaN is NaN.
Tensor without_unseen(const Tensor& x, const Tensor& seen);

/// The sum over the heads of a group: (.., H, T, D) -> (.., Hk, T, D), as x has them.
Tensor over_group(const Tensor& g, const Tensor& x);

}  // namespace fovea::detail
