// What generation and beam search ask of their prompt. Not public.
#pragma once

#include "fovea/core/tensor.h"

namespace fovea::detail {

void check_prompt(const char* op, const Tensor& prompt, int64_t max_tokens);

}  // namespace fovea::detail
