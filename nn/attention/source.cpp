#include "fovea/nn/attention/source.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/attention/detail/soft_mask.h"
#include "fovea/nn/attention/local.h"
#include "fovea/ops/ops.h"

namespace fovea {

void AttentionSource::select(const Tensor& rows) {
  const bool one = values.same_as(keys);
  if (keys.defined()) keys = index_select(keys, 0, rows);
  if (values.defined()) values = one ? keys : index_select(values, 0, rows);
  if (keep_mask.defined()) keep_mask = index_select(keep_mask, 0, rows);
}

AttentionSource SourceAttention::prepare(const Tensor& keys, const Tensor& values,
                                         const Tensor& keep_mask) const {
  constexpr const char* name = "SourceAttention";
  const auto rank_3 = [](const Tensor& x) { return x.defined() && x.dim() == 3; };
  if (!rank_3(keys) || !rank_3(values) || keys.size(0) != values.size(0) ||
      keys.size(1) != values.size(1)) {
    const auto shape = [](const Tensor& x) { return x.defined() ? x.shape().str() : "undefined"; };
    throw ShapeError(fmt::format("{}: keys is {}, values is {}; need (B, Tk, Dk) and (B, Tk, Dv)",
                                 name, shape(keys), shape(values)));
  }
  const Tensor words =
      detail::keep_mask_of_words(name, keep_mask, keys.size(0), keys.size(1));  // (B, 1, Tk)
  const Tensor seen_keys = detail::without_unseen_keys(keys, words);
  const Tensor seen_values =
      values.same_as(keys) ? seen_keys : detail::without_unseen_keys(values, words);
  return {project(seen_keys), seen_values, keep_mask};
}

std::unique_ptr<SourceAttention> make_source_attention(std::string_view kind,
                                                       const SourceAttentionOptions& o) {
  if (kind != "local-m" && kind != "local-p") {
    return std::make_unique<ScoredAttention>(make_score(kind, o.score));
  }
  const LocalAttentionOptions local{
      .centre = kind == "local-m" ? LocalCentre::monotonic : LocalCentre::predicted,
      .window = o.window,
      .query_dim = o.score.query_dim,
      .dtype = o.score.dtype};
  return std::make_unique<LocalAttention>(make_score("general", o.score), local);
}

}  // namespace fovea
