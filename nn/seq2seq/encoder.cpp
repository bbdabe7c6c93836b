#include "fovea/nn/seq2seq/encoder.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/nn/attention/mask.h"
#include "fovea/nn/detail/widths.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr const char* kEncoder = "Encoder";

RecurrentLayerOptions layer_options(const EncoderOptions& o) {
  const int64_t directions = o.bidirectional ? 2 : 1;
  if (o.width % directions != 0) {
    throw ValueError(
        fmt::format("{}: width is {}; a multiple of 2 is needed, half of it for each direction",
                    kEncoder, o.width));
  }
  return {.in = o.embedding,
          .hidden = o.width / directions,
          .layers = o.layers,
          .bidirectional = o.bidirectional,
          .dropout = o.layers > 1 ? o.dropout : 0,
          .dtype = o.dtype};
}

// A sentence is read up to a length.
void check_padding(const Tensor& ids, const Tensor& keep) {
  if (!keep.defined()) return;
  const int64_t n = ids.size(1) - 1;
  if (!any(logical_and(logical_not(narrow(keep, 1, 0, n)), narrow(keep, 1, 1, n)))) return;
  throw ValueError(
      fmt::format("{}: source {} has a token behind padding; fill sentences up at the right",
                  kEncoder, ids.shape().str()));
}

}  // namespace

Encoder::Encoder(const EncoderOptions& o, int64_t embedding_width)
    : embedding({.count = o.vocab,
                 .dim = embedding_width,
                 .padding_idx = o.padding_idx,
                 .dtype = o.dtype}),
      dropout(o.dropout),
      width_(o.width) {
  detail::check_widths(kEncoder, {{"vocab", o.vocab},
                                  {"embedding", embedding_width},
                                  {"width", o.width},
                                  {"layers", o.layers}});
}

Tensor Encoder::words(const Tensor& ids) const {
  if (!ids.defined() || ids.dim() != 2 || ids.size(1) == 0) {
    throw ShapeError(fmt::format("{}: source is {}; need (B, S), at least one token a sentence",
                                 kEncoder, ids.defined() ? ids.shape().str() : "undefined"));
  }
  if (ids.dtype() != i64) {
    throw DTypeError(fmt::format("{}: source is {} {}; tokens are i64", kEncoder, name(ids.dtype()),
                                 ids.shape().str()));
  }
  return embedding.padding_idx < 0 ? Tensor() : ne(ids, embedding.padding_idx);
}

void Encoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("dropout", dropout);
}

RecurrentEncoder::RecurrentEncoder(const EncoderOptions& o)
    : Encoder(o, o.embedding), layers(make_recurrent(o.kind, layer_options(o))) {}

Encoded RecurrentEncoder::operator()(const Tensor& ids) const {
  const Tensor keep = words(ids);
  check_padding(ids, keep);
  const Tensor lengths = keep.defined() ? sum(keep, 1) : Tensor();
  const RecurrentOutput out = (*layers)(dropout(embedding(ids)), {}, lengths);
  const int64_t directions = layers->directions();
  const Tensor last = narrow(out.state.h, 0, out.state.h.size(0) - directions, directions);
  // (directions, B, H) -> (B, directions * H)
  const Tensor summary = reshape(transpose(last, 0, 1), {ids.size(0), width()});
  return {dropout(out.output), summary, keep};
}

void RecurrentEncoder::visit(Visitor& v) {
  Encoder::visit(v);
  v("layers", layers);
}

TransformerSourceEncoder::TransformerSourceEncoder(const EncoderOptions& o)
    : Encoder(o, o.width),
      positions(o.width),
      layers({.layer = {.d_model = o.width,
                        .heads = o.heads,
                        .dropout = o.dropout,
                        .pre_norm = true,
                        .dtype = o.dtype},
              .layers = o.layers}) {
  const NoGrad scope;  // rows of unit length, which operator() makes as long as positions are
  embedding.weight.mul_(1 / std::sqrt(static_cast<double>(o.width)));
}

Encoded TransformerSourceEncoder::operator()(const Tensor& ids) const {
  const Tensor keep = words(ids);
  const Tensor x = embedding(ids) * std::sqrt(static_cast<double>(width()));
  const Tensor memory = layers(dropout(positions(x)), {.keep_mask = keep_mask_of_keys(keep)});
  if (!keep.defined()) return {memory, mean(memory, 1), keep};
  const Tensor kept = where(unsqueeze(keep, 2), memory, zeros({}, memory.dtype()));
  const Tensor count = maximum(sum(keep, 1, keepdim), ones({}, i64));
  return {memory, sum(kept, 1) / fovea::to(count, memory.dtype()), keep};
}

void TransformerSourceEncoder::visit(Visitor& v) {
  Encoder::visit(v);
  v("layers", layers);
}

std::unique_ptr<Encoder> make_encoder(const EncoderOptions& o) {
  if (o.kind == "transformer") return std::make_unique<TransformerSourceEncoder>(o);
  if (o.kind == "rnn" || o.kind == "lstm" || o.kind == "gru") {
    return std::make_unique<RecurrentEncoder>(o);
  }
  throw ValueError(
      fmt::format("make_encoder: kind is \"{}\"; it is rnn, lstm, gru or transformer", o.kind));
}

}  // namespace fovea
