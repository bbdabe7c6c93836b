// T5's relative positions. Raffel 2020, "Exploring the limits of transfer learning", section 2.1.
//
//     s_ij = q_i . k_j + b[bucket(j - p_i), h]
//
// One learned number for each head and bucket of distances. Near distances have buckets of their
// own, far ones share them, at a width that grows with the distance, and all beyond max_distance
// fall into the last. The table is small, says nothing about places, and one can serve all layers.
// The gradient of b[r, h] is the sum of those of all scores of head h whose distance is in bucket
// r.
#pragma once

#include "fovea/nn/module.h"

namespace fovea {

struct T5BiasOptions {
  int64_t heads = 1;
  int64_t buckets = 32;        ///< bidirectional: even and at least 4; else at least 2
  int64_t max_distance = 128;  ///< more than half of a direction's buckets
  /// Half of the buckets for keys after the query. Without it (a causal decoder) those share bucket
  /// 0 with the query's own place.
  bool bidirectional = true;
  DType dtype = f32;
};

/// The bucket of a key that stands `distance` after the query: with n = |distance| and N buckets in
/// its direction, n below N / 2, else N / 2 + log(n / (N / 2)) / log(max_distance / (N / 2)) * N /
/// 2 rounded down, at most N - 1; plus N for keys after the query when bidirectional.
int64_t t5_bucket(int64_t distance, const T5BiasOptions& o = {});

/// (tq, tk) -> (H, Tq, Tk), to be handed to attention as AttentionOptions::bias. Queries stand
/// lower-right, see distances(). T5 itself does not divide scores: AttentionOptions::scale = 1.
/// Parameter "weight" (buckets, H), N(0, 1) at first. ValueError for options outside the above.
class T5Bias : public Module {
 public:
  Tensor weight;

  explicit T5Bias(const T5BiasOptions& o);

  Tensor forward(int64_t tq, int64_t tk) const;
  Tensor operator()(int64_t tq, int64_t tk) const { return forward(tq, tk); }
  void visit(Visitor& v) override { v("weight", weight); }

 private:
  T5BiasOptions o_;
};

}  // namespace fovea
