#include "fovea/nn/transformer/detail/ids.h"

#include <fmt/format.h>

#include "fovea/core/error.h"

namespace fovea::detail {
namespace {

void check_matrix(const char* op, const char* arg, const Tensor& ids, const char* need) {
  if (!ids.defined() || ids.dim() != 2) {
    throw ShapeError(fmt::format("{}: {} is {}; need {}", op, arg,
                                 ids.defined() ? ids.shape().str() : "undefined", need));
  }
  if (ids.dtype() != i64) {
    throw DTypeError(fmt::format("{}: {} is {}; need i64", op, arg, name(ids.dtype())));
  }
}

}  // namespace

void check_ids(const char* model, const Tensor& ids, int64_t before, int64_t context) {
  check_matrix(model, "ids", ids, "(B, T)");
  if (before + ids.size(1) <= context) return;
  throw ValueError(fmt::format(
      "{}: {} tokens behind {} read before; the model reads at most {}: cut the sequence", model,
      ids.size(1), before, context));
}

void check_prompt(const char* op, const Tensor& prompt, int64_t max_tokens) {
  constexpr const char* kNeed = "(N, t) with at least one token";
  check_matrix(op, "prompt", prompt, kNeed);
  if (prompt.size(1) == 0) {
    throw ShapeError(fmt::format("{}: prompt is {}; need {}", op, prompt.shape().str(), kNeed));
  }
  if (max_tokens < 0) {
    throw ValueError(
        fmt::format("{}: max_tokens is {}; it counts tokens, at least 0", op, max_tokens));
  }
}

}  // namespace fovea::detail
