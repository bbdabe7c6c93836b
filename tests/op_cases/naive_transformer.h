// The slow, obvious meaning of the blocks of a Transformer. Each takes its parameters.
#pragma once

#include "tests/op_cases/naive_layers.h"

namespace fovea::cases {

inline bool sees_the_past(int64_t, int64_t i, int64_t j) { return j <= i; }

struct NaiveNorm {
  const NaiveTensor &weight, &bias;
  double eps = 1e-5;
  NaiveTensor operator()(const NaiveTensor& x) const { return layer_norm(x, weight, bias, eps); }
};
NaiveNorm take_norm(Parameters& p);

/// With gelu.
NaiveTensor mlp(const NaiveTensor& x, Parameters& p);
NaiveTensor swiglu(const NaiveTensor& x, Parameters& p);
NaiveTensor encoder_layer(const NaiveTensor& x, Parameters& p, const NaiveHeads& heads, bool pre,
                          double eps = 1e-5);
NaiveTensor decoder_layer(const NaiveTensor& x, const NaiveTensor& memory, Parameters& p,
                          int64_t heads, bool pre, const std::optional<RopePairing>& rotary = {});
NaiveTensor llama_block(const NaiveTensor& x, Parameters& p, const NaiveHeads& heads);

}  // namespace fovea::cases
