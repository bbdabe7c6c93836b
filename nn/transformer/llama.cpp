#include "fovea/nn/transformer/llama.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/init.h"
#include "fovea/nn/transformer/detail/ids.h"
#include "fovea/nn/transformer/detail/stack.h"
#include "fovea/ops/ops.h"

namespace fovea {

LlamaBlock::LlamaBlock(const LlamaOptions& o)
    : norm1({.dim = o.d_model, .eps = o.eps, .dtype = o.dtype}),
      attention({.d_model = o.d_model,
                 .heads = o.heads,
                 .bias = false,
                 .kv_heads = o.kv_heads,
                 .rotary = o.rotary,
                 .dtype = o.dtype}),
      norm2({.dim = o.d_model, .eps = o.eps, .dtype = o.dtype}),
      mlp({.d_model = o.d_model, .d_ff = o.d_ff, .dtype = o.dtype}) {
  if (o.window < 0) {
    throw ValueError(fmt::format(
        "Llama: window is {}; it counts the tokens attended to, or is 0 for all", o.window));
  }
  if (o.window > 0) before_ = o.window - 1;
}

Tensor LlamaBlock::forward(const Tensor& x, LayerCache* cache) const {
  const AttendOptions o{.causal = Causal::lower_right, .window = before_, .cache = cache};
  const Tensor h = x + attention(norm1(x), o);
  return h + mlp(norm2(h));
}

void LlamaBlock::visit(Visitor& v) {
  v("norm1", norm1);
  v("attention", attention);
  v("norm2", norm2);
  v("mlp", mlp);
}

Llama::Llama(const LlamaOptions& o)
    : tokens({.count = o.vocab, .dim = o.d_model, .dtype = o.dtype}),
      norm({.dim = o.d_model, .eps = o.eps, .dtype = o.dtype}),
      o_(o) {
  detail::check_layers("Llama", o.layers, 1);  // the length of a cache is that of its layers
  for (int64_t i = 0; i < o.layers; ++i) blocks.emplace_back(o);
  head = o.tied ? tokens.weight : zeros({o.vocab, o.d_model}, o.dtype).requires_grad_();
  const NoGrad scope;
  for (const auto& [name, parameter] : named_parameters()) {
    if (parameter.dim() == 2) init::normal_(parameter, 0, 0.02);
  }
}

Tensor Llama::hidden(const Tensor& ids, KvCache* cache) const {
  detail::check_ids("Llama", ids, cache ? cache->length() : 0, o_.context);
  detail::check_cache("Llama", cache, blocks.size());
  Tensor h = tokens(ids);
  for (size_t i = 0; i < blocks.size(); ++i) {
    h = blocks[i](h, cache ? &cache->layers[i] : nullptr);
  }
  return norm(h);
}

Tensor Llama::logits(const Tensor& h) const { return linear(h, head); }

void Llama::visit(Visitor& v) {
  v("tokens", tokens);
  v("blocks", blocks);
  v("norm", norm);
  v("head", head);
}

}  // namespace fovea
