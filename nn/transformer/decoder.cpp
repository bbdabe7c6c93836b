#include "fovea/nn/transformer/decoder.h"

#include "fovea/nn/attention/mask.h"
#include "fovea/nn/transformer/detail/stack.h"

namespace fovea {

void DecoderCache::select(const Tensor& rows) {
  const NoGrad scope;
  target.select(rows);
  for (auto& m : memory) m = {index_select(m.k, 0, rows), index_select(m.v, 0, rows)};
}

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerLayerOptions& o)
    : self_attention(detail::self_attention_of(o)),
      cross_attention(detail::cross_attention_of(o)),
      mlp(detail::mlp_of(o)),
      norm1(detail::norm_of(o)),
      norm2(detail::norm_of(o)),
      norm3(detail::norm_of(o)),
      dropout(o.dropout),
      pre_norm(o.pre_norm) {}

template <class Look>
Tensor TransformerDecoderLayer::run(const Tensor& x, const AttendOptions& self,
                                    Look look_at_memory) const {
  using detail::residual;
  const Tensor h1 = residual(pre_norm, norm1, x,
                             [&](const Tensor& t) { return dropout(self_attention(t, self)); });
  const Tensor h2 =
      residual(pre_norm, norm2, h1, [&](const Tensor& t) { return dropout(look_at_memory(t)); });
  return residual(pre_norm, norm3, h2, [&](const Tensor& t) { return dropout(mlp(t)); });
}

Tensor TransformerDecoderLayer::forward(const Tensor& x, const Tensor& memory,
                                        const DecodeOptions& o) const {
  return run(x, {.keep_mask = o.keep_mask, .causal = Causal::lower_right}, [&](const Tensor& t) {
    const AttendOptions cross{.keep_mask = keep_mask_of_keys(o.memory_keep_mask)};
    if (!o.weights) return cross_attention(t, memory, memory, cross);
    Attended seen = cross_attention.attend(t, memory, memory, cross);
    *o.weights = std::move(seen.weights);
    return seen.output;
  });
}

Tensor TransformerDecoderLayer::step(const Tensor& x, LayerCache& cache,
                                     const KeysAndValues& memory, const DecodeOptions& o) const {
  const AttendOptions self{
      .keep_mask = o.keep_mask, .causal = Causal::lower_right, .cache = &cache};
  return run(x, self, [&](const Tensor& t) {
    return cross_attention.attend_to(t, memory,
                                     {.keep_mask = keep_mask_of_keys(o.memory_keep_mask)});
  });
}

void TransformerDecoderLayer::visit(Visitor& v) {
  v("self_attention", self_attention);
  v("cross_attention", cross_attention);
  v("mlp", mlp);
  v("norm1", norm1);
  v("norm2", norm2);
  v("norm3", norm3);
  v("dropout", dropout);
}

TransformerDecoder::TransformerDecoder(const TransformerStackOptions& o) {
  detail::fill_stack("TransformerDecoder", o, layers, norm);
}

Tensor TransformerDecoder::forward(const Tensor& x, const Tensor& memory,
                                   const DecodeOptions& o) const {
  DecodeOptions inner = o;  // of all layers but the last
  inner.weights = nullptr;
  if (o.weights) *o.weights = Tensor();
  Tensor h = x;
  for (size_t i = 0; i < layers.size(); ++i) {
    h = layers[i](h, memory, i + 1 == layers.size() ? o : inner);
  }
  return norm ? (*norm)(h) : h;
}

DecoderCache TransformerDecoder::prepare(const Tensor& memory) const {
  DecoderCache cache{KvCache(static_cast<int64_t>(layers.size())), {}};
  for (const auto& layer : layers) {
    cache.memory.push_back(layer.cross_attention.project(memory, memory));
  }
  return cache;
}

Tensor TransformerDecoder::step(const Tensor& x, DecoderCache& cache,
                                const DecodeOptions& o) const {
  detail::check_cache("TransformerDecoder", &cache.target, layers.size());
  Tensor h = x;
  for (size_t i = 0; i < layers.size(); ++i) {
    h = layers[i].step(h, cache.target.layers[i], cache.memory[i], o);
  }
  return norm ? (*norm)(h) : h;
}

void TransformerDecoder::visit(Visitor& v) {
  v("layers", layers);
  v("norm", norm);
}

}  // namespace fovea
