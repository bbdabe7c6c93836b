// What the layers of soft attention share: checks, and masks of one head. Not public.
#pragma once

#include "fovea/core/tensor.h"

namespace fovea::detail {

/// ShapeError in the name of `op` unless q (B, Tq, .), keys (B, Tk, .) and values (B, Tk, .).
void check_soft_attention(const char* op, const Tensor& q, const Tensor& keys,
                          const Tensor& values);

/// A keep mask (bool, true = attend) of any shape that keep_mask_of_rank_4 takes, for one head: as
/// (B or 1, Tq or 1, Tk). Undefined stays undefined.
Tensor keep_mask_of_rank_3(const char* op, const Tensor& mask, int64_t b, int64_t tq, int64_t tk);

/// Which keys are words, bool (B, Tk), as (B, 1, Tk); undefined when all are. ShapeError or
/// DTypeError for other masks.
Tensor keep_mask_of_words(const char* op, const Tensor& mask, int64_t b, int64_t tk);

/// x (B, Tk, D) with zeros where no query may look, keep (B or 1, Tq or 1, Tk): what is masked for
/// all then reaches neither a result nor a gradient, NaN included (0 * NaN is NaN). x itself
/// without a mask.
Tensor without_unseen_keys(const Tensor& x, const Tensor& keep);

/// softmax over the last axis of what keep keeps, or of all; a row of which nothing is kept gets 0.
Tensor attention_softmax(const Tensor& scores, const Tensor& keep);

}  // namespace fovea::detail
