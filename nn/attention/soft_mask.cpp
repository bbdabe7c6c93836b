#include "fovea/nn/attention/detail/soft_mask.h"

#include <fmt/format.h>

#include <string>

#include "fovea/core/error.h"
#include "fovea/nn/attention/mask.h"
#include "fovea/ops/ops.h"

namespace fovea::detail {

Tensor keep_mask_of_rank_3(const char* op, const Tensor& mask, int64_t b, int64_t tq, int64_t tk) {
  const Tensor four = keep_mask_of_rank_4(op, mask, b, 1, tq, tk);
  return four.defined() ? squeeze(four, 1) : four;
}

Tensor keep_mask_of_words(const char* op, const Tensor& mask, int64_t b, int64_t tk) {
  if (!mask.defined()) return {};
  if (mask.dtype() != boolean) {
    throw DTypeError(fmt::format("{}: keep_mask is {} {}; need bool, true where there is a word",
                                 op, name(mask.dtype()), mask.shape().str()));
  }
  if (!(mask.shape() == Shape{b, tk})) {
    throw ShapeError(fmt::format("{}: keep_mask is {}; need (B, Tk) = {}", op, mask.shape().str(),
                                 Shape({b, tk}).str()));
  }
  return unsqueeze(mask, 1);
}

Tensor without_unseen_keys(const Tensor& x, const Tensor& keep) {
  if (!keep.defined() || keep.size(1) == 0) return x;
  const Tensor seen = transpose(to(amax(to(keep, i64), 1, true), boolean), 1, 2);  // (B, Tk, 1)
  return where(seen, x, zeros({}, x.dtype()));
}

Tensor attention_softmax(const Tensor& scores, const Tensor& keep) {
  return keep.defined() ? masked_softmax(scores, keep) : softmax(scores, -1);
}

void check_soft_attention(const char* op, const Tensor& q, const Tensor& keys,
                          const Tensor& values) {
  const auto rank_3 = [](const Tensor& x) { return x.defined() && x.dim() == 3; };
  if (rank_3(q) && rank_3(keys) && rank_3(values) && q.size(0) == keys.size(0) &&
      keys.size(0) == values.size(0) && keys.size(1) == values.size(1)) {
    return;
  }
  const auto shape = [](const Tensor& x) -> std::string {
    return x.defined() ? x.shape().str() : "undefined";
  };
  throw ShapeError(fmt::format(
      "{}: q is {}, keys is {}, values is {}; need (B, Tq, Dq), (B, Tk, Dk) and (B, Tk, Dv)", op,
      shape(q), shape(keys), shape(values)));
}

}  // namespace fovea::detail
