#include "examples/cost/methods.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/ops/ops.h"

namespace fovea::cost {
namespace {

// softmax(q k' / sqrt(D)) v as it is written down: each step keeps T x T numbers a head.
Tensor naive_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor scores =
      matmul(q, transpose(k, -2, -1)) / std::sqrt(static_cast<double>(q.size(-1)));
  return matmul(softmax(scores), v);
}

}  // namespace

std::vector<Method> methods(const Sizes& s) {
  const Tensor directions = orthogonal_features(s.features, s.dim);
  const auto flash = [](const AttentionOptions& o) {
    return [o](const Tensor& q, const Tensor& k, const Tensor& v) {
      return scaled_dot_product_attention(q, k, v, o);
    };
  };
  const auto linear = [](bool causal) {
    return [causal](const Tensor& q, const Tensor& k, const Tensor& v) {
      return linear_attention(q, k, v, {.keep_mask = {}, .causal = causal});
    };
  };
  return {
      {"naive", "naive, T x T stored", naive_attention},
      {"flash", "flash, tile by tile", flash({})},
      {"window", fmt::format("window of {}", s.window), flash({.window = s.window})},
      {"linear", "linear", linear(false)},
      {"linear_causal", "linear, causal", linear(true)},
      {"performer", fmt::format("Performer, {} features", s.features),
       [directions](const Tensor& q, const Tensor& k, const Tensor& v) {
         return performer_attention(q, k, v, directions);
       }},
      {"soft", fmt::format("SOFT, {} landmarks", s.landmarks),
       [n = s.landmarks](const Tensor& q, const Tensor& k, const Tensor& v) {
         return soft_attention_nystrom(q, k, v, {.keep_mask = {}, .landmarks = n});
       }},
  };
}

}  // namespace fovea::cost
