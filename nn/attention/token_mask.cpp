#include "fovea/nn/attention/detail/token_mask.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/attention/detail/heads.h"
#include "fovea/ops/ops.h"

namespace fovea::detail {

void check_tokens(const char* op, const Tensor& x, int64_t width, const Tensor& keep_mask) {
  check_sequence(op, "x", x, width);
  if (!keep_mask.defined()) return;
  if (keep_mask.dtype() != boolean) {
    throw DTypeError(fmt::format("{}: keep_mask is {} {}; need bool", op, name(keep_mask.dtype()),
                                 keep_mask.shape().str()));
  }
  if (!(keep_mask.shape() == Shape{x.size(0), x.size(1)})) {
    throw ShapeError(fmt::format("{}: keep_mask is {}, x is {}; need (B, T)", op,
                                 keep_mask.shape().str(), x.shape().str()));
  }
}

Tensor tokens_only(const Tensor& x, const Tensor& keep_mask) {
  if (!keep_mask.defined()) return x;
  Shape shape = keep_mask.shape();
  while (shape.rank() < x.dim()) shape.push_back(1);
  return where(reshape(keep_mask, shape), x, zeros({}, x.dtype()));
}

int64_t head_width(const char* op, int64_t d_model, int64_t width, int64_t heads) {
  if (d_model < 1 || heads < 1 || width < 0 || (width == 0 && d_model % heads != 0)) {
    throw ValueError(
        fmt::format("{}: d_model is {}, width is {}, heads is {}; d_model and heads are at least "
                    "1, and without "
                    "a width d_model is a multiple of heads",
                    op, d_model, width, heads));
  }
  return width > 0 ? width : d_model / heads;
}

}  // namespace fovea::detail
