// What the layers of attention check and cut. Not public.
#pragma once

#include <fmt/format.h>

#include <string>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea::detail {

/// ShapeError unless x is (B, T, width).
inline void check_sequence(const char* op, const char* arg, const Tensor& x, int64_t width) {
  if (x.defined() && x.dim() == 3 && x.size(2) == width) return;
  throw ShapeError(fmt::format("{}: {} is {}; need (B, T, {})", op, arg,
                               x.defined() ? x.shape().str() : "undefined", width));
}

/// (B, T, H D) -> (B, H, T, D)
inline Tensor by_head(const Tensor& x, int64_t heads) {
  return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}

}  // namespace fovea::detail
