#include "fovea/nn/attention/soft.h"

#include <utility>

#include "fovea/core/error.h"
#include "fovea/nn/attention/detail/soft_mask.h"
#include "fovea/ops/ops.h"

namespace fovea {

ScoredAttention::ScoredAttention(std::shared_ptr<Score> s) : score(std::move(s)) {
  if (!score) throw ValueError("ScoredAttention: score is null; pass one, as of make_score()");
}

SoftAttended ScoredAttention::operator()(const Tensor& q, const Tensor& keys, const Tensor& values,
                                         const Tensor& keep_mask) const {
  constexpr const char* name = "ScoredAttention";
  detail::check_soft_attention(name, q, keys, values);
  const Tensor keep =
      detail::keep_mask_of_rank_3(name, keep_mask, q.size(0), q.size(1), keys.size(1));
  const Tensor weights =
      detail::attention_softmax((*score)(q, detail::without_unseen_keys(keys, keep)), keep);
  return {matmul(weights, detail::without_unseen_keys(values, keep)), weights};
}

SoftAttended ScoredAttention::attend(const Tensor& q, const AttentionSource& source,
                                     int64_t /*first_step*/) const {
  const Tensor keep = source.keep_mask.defined() ? unsqueeze(source.keep_mask, 1) : Tensor();
  const Tensor weights = detail::attention_softmax(score->with_projected(q, source.keys), keep);
  return {matmul(weights, source.values), weights};
}

}  // namespace fovea
