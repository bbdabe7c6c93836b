// The slow, obvious meaning of layers, by the loops of naive.h.
#pragma once

#include <cmath>
#include <functional>
#include <optional>

#include "fovea/ops/ops.h"
#include "tests/op_cases/naive.h"

namespace fovea::cases {

using NaiveTensors = std::vector<NaiveTensor>;

/// Hands out the inputs of a row one after the other: the parameters of a layer stand in the order
/// of its visit().
struct Parameters {
  const NaiveTensors& all;
  size_t at;
  const NaiveTensor& next() { return all[at++]; }
};

NaiveTensor plus(const NaiveTensor& a, const NaiveTensor& b);
NaiveTensor times(const NaiveTensor& a, const NaiveTensor& b);
/// x W' + b
NaiveTensor affine(const NaiveTensor& x, const NaiveTensor& weight, const NaiveTensor& bias);
NaiveTensor affine(const NaiveTensor& x, const NaiveTensor& weight);
NaiveTensor layer_norm(const NaiveTensor& x, const NaiveTensor& weight, const NaiveTensor& bias,
                       double eps = 1e-5);
NaiveTensor rms_norm(const NaiveTensor& x, const NaiveTensor& weight, double eps = 1e-5);
NaiveTensor gelu(const NaiveTensor& x);
NaiveTensor silu(const NaiveTensor& x);
/// Row ids[i] of the table, for each of the ids.
NaiveTensor look_up(const NaiveTensor& table, const NaiveTensor& ids);

struct NaiveHeads {
  int64_t heads = 1, kv_heads = 1;
  /// Whether query i of sentence b sees key j.
  std::function<bool(int64_t b, int64_t i, int64_t j)> sees = [](auto...) { return true; };
  /// Turns q and k at their places, each head alone.
  std::optional<RopePairing> rotary = {};
};
/// W_o of the heads side by side, each a softmax of scores over sqrt(D), of projected q, k and v.
NaiveTensor heads_side_by_side(NaiveTensor q, NaiveTensor k, const NaiveTensor& v,
                               const NaiveHeads& o);
/// The whole of MultiHeadAttention; takes its parameters, with biases or without.
NaiveTensor multi_head(const NaiveTensor& q, const NaiveTensor& k, const NaiveTensor& v,
                       Parameters& p, const NaiveHeads& o, bool bias = true);

}  // namespace fovea::cases
