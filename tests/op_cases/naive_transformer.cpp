#include "tests/op_cases/naive_transformer.h"

namespace fovea::cases {

NaiveTensor mlp(const NaiveTensor& x, Parameters& p) {
  const NaiveTensor &w = p.next(), &b = p.next(), &w2 = p.next(), &b2 = p.next();
  return affine(gelu(affine(x, w, b)), w2, b2);
}
NaiveTensor swiglu(const NaiveTensor& x, Parameters& p) {
  const NaiveTensor &gate = p.next(), &up = p.next(), &down = p.next();
  return affine(times(silu(affine(x, gate)), affine(x, up)), down);
}

NaiveNorm take_norm(Parameters& p) {
  const NaiveTensor &w = p.next(), &b = p.next();
  return {w, b};
}

// Parameters stand in the order attention, mlp, norm1, norm2, which is not that of their use.
NaiveTensor encoder_layer(const NaiveTensor& x, Parameters& p, const NaiveHeads& heads, bool pre,
                          double eps) {
  Parameters attention = p, feed{p.all, p.at + 8}, norms{p.all, p.at + 12};
  p.at += 16;
  NaiveNorm norm1 = take_norm(norms), norm2 = take_norm(norms);
  norm1.eps = norm2.eps = eps;
  const NaiveTensor in = pre ? norm1(x) : x;
  NaiveTensor h = plus(x, multi_head(in, in, in, attention, heads));
  if (!pre) h = norm1(h);
  const NaiveTensor y = plus(h, mlp(pre ? norm2(h) : h, feed));
  return pre ? y : norm2(y);
}

NaiveTensor decoder_layer(const NaiveTensor& x, const NaiveTensor& memory, Parameters& p,
                          int64_t heads, bool pre, const std::optional<RopePairing>& rotary) {
  Parameters self = p, cross{p.all, p.at + 8}, feed{p.all, p.at + 16}, norms{p.all, p.at + 20};
  p.at += 26;
  const NaiveNorm norm1 = take_norm(norms), norm2 = take_norm(norms), norm3 = take_norm(norms);
  const auto step = [pre](const NaiveNorm& n, const NaiveTensor& t, auto f) {
    return pre ? plus(t, f(n(t))) : n(plus(t, f(t)));
  };
  const NaiveTensor h1 = step(norm1, x, [&](const NaiveTensor& t) {
    return multi_head(t, t, t, self,
                      {.heads = heads, .kv_heads = heads, .sees = sees_the_past, .rotary = rotary});
  });
  const NaiveTensor h2 = step(norm2, h1, [&](const NaiveTensor& t) {
    return multi_head(t, memory, memory, cross, {.heads = heads, .kv_heads = heads});
  });
  return step(norm3, h2, [&](const NaiveTensor& t) { return mlp(t, feed); });
}

NaiveTensor llama_block(const NaiveTensor& x, Parameters& p, const NaiveHeads& heads) {
  const NaiveTensor in = rms_norm(x, p.next());
  const NaiveTensor h = plus(x, multi_head(in, in, in, p, heads, false));
  const NaiveTensor again = rms_norm(h, p.next());
  return plus(h, swiglu(again, p));
}

}  // namespace fovea::cases
