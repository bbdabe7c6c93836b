#include "fovea/nn/transformer/transformer.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/nn/attention/mask.h"
#include "fovea/nn/init.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

Embedding table(const TransformerOptions& o, int64_t vocab) {
  Embedding e({.count = vocab,
               .dim = o.layer.d_model,
               .padding_idx = o.padding_idx,
               .dtype = o.layer.dtype});
  const NoGrad scope;
  e.weight.mul_(1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, o.layer.d_model))));
  return e;
}

}  // namespace

Transformer::Transformer(const TransformerOptions& o)
    : source(table(o, o.source_vocab)),
      target(table(o, o.target_vocab)),
      positions(o.layer.d_model),
      dropout(o.layer.dropout),
      encoder({.layer = o.layer, .layers = o.encoder_layers}),
      decoder({.layer = o.layer, .layers = o.decoder_layers}),
      o_(o) {
  for (Module* stack : {static_cast<Module*>(&encoder), static_cast<Module*>(&decoder)}) {
    const NoGrad scope;
    for (const auto& [name, p] : stack->named_parameters()) {
      if (p.dim() == 2) init::xavier_uniform_(p);
    }
  }
  if (o.tied) {
    output = target.weight;
  } else {
    output = zeros({o.target_vocab, o.layer.d_model}, o.layer.dtype);
    init::xavier_uniform_(output);
    output.requires_grad_();
  }
}

Tensor Transformer::keep_mask(const Tensor& ids) const {
  return o_.padding_idx < 0 ? Tensor() : ne(ids, o_.padding_idx);
}

// Rows of a table of unit vectors, made as long as positions are.
Tensor Transformer::embed(const Embedding& table, const Tensor& ids, int64_t offset) const {
  const double scale = std::sqrt(static_cast<double>(o_.layer.d_model));
  return dropout(positions(table(ids) * scale, offset));
}

Tensor Transformer::encode(const Tensor& source_ids) const {
  return encoder(embed(source, source_ids),
                 {.keep_mask = keep_mask_of_keys(keep_mask(source_ids))});
}

Tensor Transformer::decode(const Tensor& source_ids, const Tensor& target_ids,
                           Tensor* weights) const {
  const DecodeOptions o{.keep_mask = keep_mask_of_keys(keep_mask(target_ids)),
                        .memory_keep_mask = keep_mask(source_ids),
                        .weights = weights};
  return decoder(embed(target, target_ids), encode(source_ids), o);
}

Tensor Transformer::forward(const Tensor& source_ids, const Tensor& target_ids) const {
  return linear(decode(source_ids, target_ids, nullptr), output);
}

Tensor Transformer::logits(const Tensor& source_ids, const Tensor& target_ids,
                           const ScheduledSampling& sampling) const {
  check_sampling(sampling);
  if (sampling.probability > 0) {
    throw ValueError(fmt::format(
        "Transformer: ScheduledSampling::probability is {}; its steps are computed at once, so the "
        "target cannot depend on what it says: leave it at 0",
        sampling.probability));
  }
  return forward(source_ids, target_ids);
}

Tensor Transformer::alignment(const Tensor& source_ids, const Tensor& target_ids) const {
  const NoGrad scope;
  Tensor weights;
  (void)decode(source_ids, target_ids, &weights);
  if (!weights.defined()) {
    throw ValueError("Transformer: decoder_layers is 0; such a model looks nowhere");
  }
  return weights;
}

std::unique_ptr<Decoding> Transformer::decoding(const Tensor& source_ids) const {
  return std::make_unique<TransformerDecoding>(*this, source_ids);
}

Tensor Transformer::step(const Tensor& target_ids, DecoderCache& cache,
                         const Tensor& memory_keep_mask, const Tensor& target_keep_mask) const {
  const Tensor x = embed(target, target_ids, cache.target.length());
  const DecodeOptions o{.keep_mask = keep_mask_of_keys(target_keep_mask),
                        .memory_keep_mask = memory_keep_mask};
  return linear(decoder.step(x, cache, o), output);
}

void Transformer::visit(Visitor& v) {
  v("source", source);
  v("target", target);
  v("dropout", dropout);
  v("encoder", encoder);
  v("decoder", decoder);
  v("output", output);
}

TransformerDecoding::TransformerDecoding(const Transformer& model, const Tensor& source_ids)
    : model_(model), keep_(model.keep_mask(source_ids)), cache_{KvCache(0), {}} {
  const NoGrad scope;
  cache_ = model.decoder.prepare(model.encode(source_ids));
}

Tensor TransformerDecoding::next(const Tensor& ids) {
  const NoGrad scope;
  const Tensor keep = model_.keep_mask(ids);
  const Tensor all = read_.defined() ? cat({read_, keep}, 1) : keep;
  const Tensor logits = fovea::select(model_.step(ids, cache_, keep_, all), 1, -1);
  read_ = all;
  return logits;
}

void TransformerDecoding::select(const Tensor& rows) {
  cache_.select(rows);
  for (Tensor* keep : {&keep_, &read_}) {
    if (keep->defined()) *keep = index_select(*keep, 0, rows);
  }
}

}  // namespace fovea
