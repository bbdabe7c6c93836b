#include "fovea/nn/transformer/language_model.h"

#include <fmt/format.h>

#include "fovea/core/error.h"

namespace fovea {

void LanguageModel::check_ids(const char* model, const Tensor& ids, const KvCache* cache) const {
  if (!ids.defined() || ids.dim() != 2) {
    throw ShapeError(fmt::format("{}: ids is {}; need (B, T)", model,
                                 ids.defined() ? ids.shape().str() : "undefined"));
  }
  if (ids.dtype() != i64) {
    throw DTypeError(fmt::format("{}: ids is {}; need i64", model, name(ids.dtype())));
  }
  const int64_t before = cache ? cache->length() : 0;
  if (before + ids.size(1) > context()) {
    throw ValueError(fmt::format(
        "{}: {} tokens behind {} in the cache; the model reads at most {}: cut the sequence", model,
        ids.size(1), before, context()));
  }
}

}  // namespace fovea
