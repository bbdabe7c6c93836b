#include "fovea/nn/transformer/bert.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/attention/mask.h"
#include "fovea/nn/init.h"
#include "fovea/nn/transformer/detail/ids.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

std::optional<Embedding> segments_of(const BertOptions& o) {
  if (o.segments == 0) return {};
  return Embedding({.count = o.segments, .dim = o.d_model, .dtype = o.dtype});
}

TransformerStackOptions stack(const BertOptions& o) {
  return {.layer = {.d_model = o.d_model,
                    .heads = o.heads,
                    .d_ff = o.d_ff,
                    .dropout = o.dropout,
                    .activation = Activation::gelu,
                    .eps = o.eps,
                    .dtype = o.dtype},
          .layers = o.layers};
}

}  // namespace

Bert::Bert(const BertOptions& o)
    : tokens({.count = o.vocab, .dim = o.d_model, .dtype = o.dtype}),
      positions({.max_len = o.context, .dim = o.d_model, .dtype = o.dtype}),
      segments(segments_of(o)),
      norm({.dim = o.d_model, .eps = o.eps, .dtype = o.dtype}),
      dropout(o.dropout),
      encoder(stack(o)),
      transform({.in = o.d_model, .out = o.d_model, .dtype = o.dtype}),
      transform_norm({.dim = o.d_model, .eps = o.eps, .dtype = o.dtype}),
      output_bias(zeros({o.vocab}, o.dtype)) {
  output_bias.requires_grad_();
  const NoGrad scope;
  for (const auto& [name, parameter] : named_parameters()) {
    if (parameter.dim() == 2) init::normal_(parameter, 0, 0.02);
    if (parameter.dim() == 1 && name.ends_with("bias")) init::zeros_(parameter);
  }
}

Tensor Bert::encode(const Tensor& ids, const BertInputs& in) const {
  detail::check_ids("Bert", ids, 0, positions.table.weight.size(0));
  Tensor h = positions(tokens(ids));
  if (segments) {
    h = h + (in.segments.defined() ? (*segments)(in.segments) : select(segments->weight, 0, 0));
  } else if (in.segments.defined()) {
    throw ValueError("Bert: segments are given, and the model was made without");
  }
  Tensor keep = in.keep_mask;
  if (keep.defined()) {
    if (keep.shape() != ids.shape()) {
      throw ShapeError(fmt::format("Bert: keep_mask is {}, ids is {}; need one a token",
                                   keep.shape().str(), ids.shape().str()));
    }
    keep = keep_mask_of_keys(keep);
  }
  return encoder(dropout(norm(h)), {.keep_mask = keep});
}

Tensor Bert::forward(const Tensor& ids, const BertInputs& in) const {
  const Tensor h = transform_norm(gelu(transform(encode(ids, in))));
  return linear(h, tokens.weight, output_bias);
}

void Bert::visit(Visitor& v) {
  v("tokens", tokens);
  v("positions", positions);
  v("segments", segments);
  v("norm", norm);
  v("dropout", dropout);
  v("encoder", encoder);
  v("transform", transform);
  v("transform_norm", transform_norm);
  v("output_bias", output_bias);
}

Hidden hide_tokens(const Tensor& ids, const HideOptions& o, Generator* g) {
  if (ids.dtype() != i64) {
    throw DTypeError(fmt::format("hide_tokens: ids is {}; need i64", name(ids.dtype())));
  }
  if (!(o.probability >= 0 && o.probability <= 1) || o.vocab < 1 || o.mask_id < 0 ||
      o.mask_id >= o.vocab) {
    throw ValueError(fmt::format(
        "hide_tokens: probability is {}, mask_id is {}, vocab is {}; need a probability "
        "from 0 to 1 and a token of the vocabulary",
        o.probability, o.mask_id, o.vocab));
  }
  const NoGrad scope;
  Tensor chosen = rand(ids.shape(), f32, g) < o.probability;
  if (o.may_hide.defined()) chosen = logical_and(chosen, o.may_hide);
  const Tensor fate = rand(ids.shape(), f32, g);
  const Tensor any = randint(0, o.vocab, ids.shape(), g);
  const Tensor shown = where(fate < 0.8, full({}, o.mask_id, i64), where(fate < 0.9, any, ids));
  return {where(chosen, shown, ids), where(chosen, ids, full({}, o.ignore_index, i64))};
}

}  // namespace fovea
