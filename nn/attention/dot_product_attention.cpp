#include "fovea/nn/attention/dot_product_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/core/error.h"
#include "fovea/nn/attention/detail/soft_mask.h"
#include "fovea/ops/ops.h"

namespace fovea {

SoftAttended DotProductAttention::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                             const Tensor& keep_mask) const {
  constexpr const char* name = "DotProductAttention";
  detail::check_soft_attention(name, q, k, v);
  if (q.size(2) != k.size(2)) {
    throw ShapeError(fmt::format("{}: q is {}, k is {}; need equal widths", name, q.shape().str(),
                                 k.shape().str()));
  }
  const Tensor keep = detail::keep_mask_of_rank_3(name, keep_mask, q.size(0), q.size(1), k.size(1));
  const auto width = static_cast<double>(std::max<int64_t>(1, q.size(2)));
  const Tensor scores =
      matmul(q, transpose(detail::without_unseen_keys(k, keep), 1, 2)) / std::sqrt(width);
  const Tensor weights = detail::attention_softmax(scores, keep);
  return {matmul(dropout(weights), detail::without_unseen_keys(v, keep)), weights};
}

}  // namespace fovea
