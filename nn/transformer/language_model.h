// A model of what comes next.
#pragma once

#include "fovea/nn/attention/kv_cache.h"
#include "fovea/nn/module.h"

namespace fovea {

/// Tokens in, logits of the token that follows each of them out: trained by
/// cross_entropy(model(ids), ids one further), and written with by generate.h.
class LanguageModel : public Module {
 public:
  /// ids i64 (B, T) -> logits (B, T, V): those at t depend on ids 0 ... t. With a cache the ids are
  /// those behind what it holds, which is extended by them; then under NoGrad.
  virtual Tensor forward(const Tensor& ids, KvCache* cache = nullptr) const = 0;
  Tensor operator()(const Tensor& ids, KvCache* cache = nullptr) const {
    return forward(ids, cache);
  }
  /// The longest sequence the model can read.
  virtual int64_t context() const = 0;
  /// An empty cache for this model.
  virtual KvCache cache() const = 0;
};

}  // namespace fovea
