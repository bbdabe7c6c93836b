#include "fovea/nn/attention/mask.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {

Tensor keep_mask_of_rank_4(const char* op, const Tensor& mask, int64_t b, int64_t h, int64_t tq,
                           int64_t tk) {
  if (!mask.defined()) return {};
  if (mask.dtype() != boolean) {
    throw DTypeError(fmt::format("{}: keep_mask is {} {}; need bool, true where a query attends",
                                 op, name(mask.dtype()), mask.shape().str()));
  }
  const Shape& s = mask.shape();
  const bool by_query = s == Shape{tq, tk};
  const bool by_sentence = s == Shape{b, tk};
  if (by_query && by_sentence && b > 1) {
    throw ValueError(
        fmt::format("{}: keep_mask is {}, which could be (Tq, Tk) or (B, Tk), as B = Tq = {}; pass "
                    "unsqueeze(mask, 0) for (1, Tq, Tk) or unsqueeze(mask, 1) for (B, 1, Tk)",
                    op, s.str(), b));
  }
  Shape four = s;
  if (by_query) {
    four = {1, 1, tq, tk};
  } else if (by_sentence) {
    four = {b, 1, 1, tk};
  } else if (s.rank() == 3) {
    four = {s[0], 1, s[1], s[2]};
  }
  const auto fits = [](int64_t size, int64_t full) { return size == full || size == 1; };
  if (four.rank() != 4 || !fits(four[0], b) || !fits(four[1], h) || !fits(four[2], tq) ||
      four[3] != tk) {
    throw ShapeError(
        fmt::format("{}: keep_mask is {}; need (Tq, Tk), (B, Tk), (B, Tq, Tk) or (B, H, Tq, Tk) "
                    "with B = {}, H = {}, Tq = {}, Tk = {}",
                    op, s.str(), b, h, tq, tk));
  }
  return reshape(mask, four);
}

Tensor keep_mask_of_keys(const Tensor& mask) {
  if (!mask.defined() || mask.dim() != 2) return mask;
  return reshape(mask, {mask.size(0), 1, 1, mask.size(1)});
}

}  // namespace fovea
