// One rank for all the shapes in which a mask is handed to a layer.
#pragma once

#include "fovea/core/tensor.h"

namespace fovea {

/// A keep mask (bool, true = attend) as (B or 1, H or 1, Tq or 1, Tk), ready to broadcast to scores
/// (B, H, Tq, Tk). Accepts (Tq, Tk), the same for every sentence; (B, Tk), padding; (B, Tq, Tk);
/// and (B, H, Tq, Tk), of which B, H and Tq may be 1. ValueError when two axes could mean either of
/// the first two (B = Tq); ShapeError when it is none of them. Undefined stays undefined.
Tensor keep_mask_of_rank_4(const char* op, const Tensor& mask, int64_t b, int64_t h, int64_t tq,
                           int64_t tk);

/// A keep mask of keys, (B, Tk), as (B, 1, 1, Tk): what it means where B = Tq. Undefined stays
/// undefined, and masks of another rank stay what they are.
Tensor keep_mask_of_keys(const Tensor& mask);

}  // namespace fovea
