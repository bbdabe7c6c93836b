#include "examples/order/schemes.h"

#include <memory>

#include "fovea/nn/position/alibi.h"
#include "fovea/nn/position/learned.h"
#include "fovea/nn/position/relative.h"
#include "fovea/nn/position/rotary.h"
#include "fovea/nn/position/sinusoidal.h"
#include "fovea/nn/position/t5.h"

namespace fovea::order {
namespace {

// x through the projections of a multi-head layer, with `mix` in place of its attention: queries,
// keys and values (1, H, T, D / H) to as much.
template <class Mix>
Tensor through(const MultiHeadAttention& layer, const Tensor& x, const Mix& mix) {
  const int64_t t = x.size(1), d = x.size(2), heads = layer.options().heads;
  const auto split = [&](const Linear& w) {
    return transpose(reshape(w(x), {1, t, heads, d / heads}), 1, 2);
  };
  const Tensor y = mix(split(layer.w_q), split(layer.w_k), split(layer.w_v));
  return layer.w_o(reshape(transpose(y, 1, 2), {1, t, d}));
}

}  // namespace

std::vector<Scheme> schemes(const Sizes& sizes) {
  const int64_t d = sizes.width, heads = sizes.heads, t = sizes.tokens;
  const auto layer =
      std::make_shared<MultiHeadAttention>(MultiHeadAttentionOptions{.d_model = d, .heads = heads});
  std::vector<Scheme> all;
  const auto add = [&](const char* key, const char* name, auto attend) {
    all.push_back({key, name, attend});
  };
  // A bias (H, T, T) of the scores.
  const auto add_bias = [&](const char* key, const char* name, auto bias) {
    add(key, name, [layer, bias](const Tensor& x, int64_t) {
      return through(*layer, x, [&](const Tensor& q, const Tensor& k, const Tensor& v) {
        return scaled_dot_product_attention(q, k, v, {.bias = bias(x.size(1), x.size(1))});
      });
    });
  };

  add("none", "attention alone", [layer](const Tensor& x, int64_t) { return (*layer)(x); });
  add("causal", "a causal mask", [layer](const Tensor& x, int64_t) {
    return (*layer)(x, {.keep_mask = {}, .causal = Causal::lower_right});
  });
  const SinusoidalPositions clocks(d);
  add("sinusoidal", "sinusoids, added",
      [layer, clocks](const Tensor& x, int64_t offset) { return (*layer)(clocks(x, offset)); });
  const LearnedPositions learned(t + sizes.moved, d);
  add("learned", "learned vectors, added",
      [layer, learned](const Tensor& x, int64_t offset) { return (*layer)(learned(x, offset)); });
  const auto add_rotary = [&](const char* key, const char* name, RopePairing pairing) {
    const RotaryPositions turn({.dim = d / heads, .base = 10000, .pairing = pairing});
    add(key, name, [layer, turn](const Tensor& x, int64_t offset) {
      return through(*layer, x, [&](const Tensor& q, const Tensor& k, const Tensor& v) {
        const Rotated r = turn(q, k, offset);
        return scaled_dot_product_attention(r.q, r.k, v);
      });
    });
  };
  add_rotary("rotary_interleaved", "rotary, pairs of neighbours", RopePairing::interleaved);
  add_rotary("rotary_half", "rotary, pairs of halves", RopePairing::half);
  add_bias("alibi", "ALiBi, a bias by distance", AlibiBias(heads));
  add_bias("t5", "T5, a learned bias", T5Bias({.heads = heads}));
  const ShawRelative shaw({.dim = d / heads});
  add("shaw", "Shaw, vectors by distance",
      [layer, shaw](const Tensor& x, int64_t) { return through(*layer, x, shaw); });
  return all;
}

}  // namespace fovea::order
