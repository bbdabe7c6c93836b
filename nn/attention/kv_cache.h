// Keys and values of tokens that were already read.
//
// Under a causal mask what comes later changes neither key nor value of what came before. A decoder
// that writes token by token therefore keeps both, and computes those of the new tokens only: T^2
// products in place of T^3. A prompt may be read in chunks of any size; lower-right alignment lets
// the last query see the last key.
#pragma once

#include <vector>

#include "fovea/core/tensor.h"

namespace fovea {

/// As the heads of one attention layer take them, (B, Hk, T, D).
struct KeysAndValues {
  Tensor k, v;
};

/// The keys and values of one attention layer. Storage grows by doubling.
class LayerCache {
 public:
  int64_t length() const { return length_; }
  /// Appends k and v (B, Hk, t, D) and returns all of them, as views that stay valid until the next
  /// append. GraphError while gradients are recorded: a cache is for reading out, under NoGrad.
  /// ShapeError when they do not fit what is there, DTypeError when they are of another dtype.
  KeysAndValues append(const Tensor& k, const Tensor& v);
  /// Row i of the batch becomes what row rows[i] was, i64 (n): what beam search keeps.
  void select(const Tensor& rows);
  void clear();

 private:
  Tensor k_, v_;  // (B, Hk, capacity, D)
  int64_t length_ = 0;
};

/// One for each layer of a model, in order.
struct KvCache {
  std::vector<LayerCache> layers;

  explicit KvCache(int64_t count) : layers(static_cast<size_t>(count)) {}
  /// Tokens read so far.
  int64_t length() const { return layers.empty() ? 0 : layers[0].length(); }
  void select(const Tensor& rows);
  void clear();
};

}  // namespace fovea
