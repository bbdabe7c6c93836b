#include "fovea/nn/attention/source.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/attention/detail/soft_mask.h"
#include "fovea/nn/attention/local.h"
#include "fovea/ops/ops.h"

namespace fovea {

void AttentionSource::select(const Tensor& rows) {
  for (Tensor* t : {&keys, &values, &keep_mask}) {
    if (t->defined()) *t = index_select(*t, 0, rows);
  }
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
  return {project(detail::without_unseen_keys(keys, words)),
          detail::without_unseen_keys(values, words), keep_mask};
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
