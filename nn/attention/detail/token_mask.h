// Sequences whose padding takes part in nothing. Not public.
#pragma once

#include "fovea/core/tensor.h"

namespace fovea::detail {

/// Throws unless x is (B, T, width) and keep_mask, when defined, bool (B, T).
void check_tokens(const char* op, const Tensor& x, int64_t width, const Tensor& keep_mask);
/// x (B, T, ...) with 0 in place of padding, NaN included, which gets no gradient.
Tensor tokens_only(const Tensor& x, const Tensor& keep_mask);

/// The width of one head: the one given, or d_model / heads. ValueError when these do not fit.
int64_t head_width(const char* op, int64_t d_model, int64_t width, int64_t heads);

}  // namespace fovea::detail
