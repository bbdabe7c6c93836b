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
  Tensor forward(const Tensor& ids, KvCache* cache = nullptr) const {
    return logits(hidden(ids, cache));
  }
  Tensor operator()(const Tensor& ids, KvCache* cache = nullptr) const {
    return forward(ids, cache);
  }
  /// forward() up to its head: what is known of each token's successor, (B, T, D).
  virtual Tensor hidden(const Tensor& ids, KvCache* cache = nullptr) const = 0;
  /// The head, (..., D) -> (..., V). With a large vocabulary it costs as much as many layers: who
  /// writes asks it for the last token alone.
  virtual Tensor logits(const Tensor& h) const = 0;
  /// The longest sequence the model can read.
  virtual int64_t context() const = 0;
  /// An empty cache for this model.
  virtual KvCache cache() const = 0;
};

}  // namespace fovea
