#include "fovea/nn/transformer/encoder.h"

#include "fovea/nn/transformer/detail/stack.h"

namespace fovea {

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerLayerOptions& o)
    : attention(detail::self_attention_of(o)),
      mlp(detail::mlp_of(o)),
      norm1(detail::norm_of(o)),
      norm2(detail::norm_of(o)),
      dropout(o.dropout),
      pre_norm(o.pre_norm) {}

Tensor TransformerEncoderLayer::forward(const Tensor& x, const AttendOptions& o) const {
  const Tensor h = detail::residual(pre_norm, norm1, x,
                                    [&](const Tensor& t) { return dropout(attention(t, o)); });
  return detail::residual(pre_norm, norm2, h, [&](const Tensor& t) { return dropout(mlp(t)); });
}

void TransformerEncoderLayer::visit(Visitor& v) {
  v("attention", attention);
  v("mlp", mlp);
  v("norm1", norm1);
  v("norm2", norm2);
  v("dropout", dropout);
}

TransformerEncoder::TransformerEncoder(const TransformerStackOptions& o) {
  detail::fill_stack("TransformerEncoder", o, layers, norm);
}

Tensor TransformerEncoder::forward(const Tensor& x, const AttendOptions& o, KvCache* cache) const {
  detail::check_cache("TransformerEncoder", cache, layers.size());
  if (o.cache) {
    throw ValueError(
        "TransformerEncoder: o.cache is that of one layer; pass a KvCache, with one for each");
  }
  Tensor h = x;
  AttendOptions each = o;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (cache) each.cache = &cache->layers[i];
    h = layers[i](h, each);
  }
  return norm ? (*norm)(h) : h;
}

void TransformerEncoder::visit(Visitor& v) {
  v("layers", layers);
  v("norm", norm);
}

}  // namespace fovea
