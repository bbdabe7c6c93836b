// What models ask of the tokens they are given. Not public.
#pragma once

#include "fovea/core/tensor.h"

namespace fovea::detail {

/// ShapeError unless ids are (B, T), DTypeError unless i64, ValueError when they pass the context,
/// with `before` of them read already.
void check_ids(const char* model, const Tensor& ids, int64_t before, int64_t context);

/// What generation and beam search begin with: ids of at least one token.
void check_prompt(const char* op, const Tensor& prompt, int64_t max_tokens);

}  // namespace fovea::detail
