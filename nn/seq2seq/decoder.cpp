#include "fovea/nn/seq2seq/decoder.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/detail/widths.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr const char* kDecoder = "AttentionDecoder";

const AttentionDecoderOptions& checked(const AttentionDecoderOptions& o) {
  detail::check_widths(kDecoder, {{"vocab", o.vocab},
                                  {"embedding", o.embedding},
                                  {"hidden", o.hidden},
                                  {"memory", o.memory},
                                  {"layers", o.layers}});
  return o;
}

// Of what the cell reads beside e.
int64_t beside(const AttentionDecoderOptions& o) {
  if (o.attention == "none" || o.order == DecoderOrder::bahdanau) return o.memory;
  return o.input_feeding ? o.hidden : 0;
}

Linear linear_of(const AttentionDecoderOptions& o, int64_t in, int64_t out) {
  return Linear(LinearOptions{.in = in, .out = out, .dtype = o.dtype});
}

std::unique_ptr<SourceAttention> attention_of(const AttentionDecoderOptions& o) {
  if (o.attention == "none") return nullptr;
  return make_source_attention(o.attention, {.score = {.query_dim = o.hidden,
                                                       .key_dim = o.memory,
                                                       .hidden = o.hidden,
                                                       .max_length = o.max_source,
                                                       .dtype = o.dtype},
                                             .window = o.window});
}

}  // namespace

void AttentionDecoder::Source::select(const Tensor& rows) {
  attention.select(rows);
  if (summary.defined()) summary = index_select(summary, 0, rows);
}

void AttentionDecoder::State::select(const Tensor& rows) {
  cell.h = index_select(cell.h, 1, rows);
  if (cell.c.defined()) cell.c = index_select(cell.c, 1, rows);
  if (fed.defined()) fed = index_select(fed, 0, rows);
}

AttentionDecoder::AttentionDecoder(const AttentionDecoderOptions& o)
    : embedding({.count = checked(o).vocab,
                 .dim = o.embedding,
                 .padding_idx = o.padding_idx,
                 .dtype = o.dtype}),
      dropout(o.dropout),
      cell(make_recurrent(o.cell, {.in = o.embedding + beside(o),
                                   .hidden = o.hidden,
                                   .layers = o.layers,
                                   .dropout = o.layers > 1 ? o.dropout : 0,
                                   .dtype = o.dtype})),
      attention(attention_of(o)),
      bridge(linear_of(o, o.memory, o.layers * o.hidden * states())),
      readout(linear_of(o,
                        o.hidden + o.memory + (o.order == DecoderOrder::bahdanau ? o.embedding : 0),
                        o.hidden)),
      output(linear_of(o, o.hidden, o.vocab)),
      o_(o) {}

void AttentionDecoder::check_summary(const Tensor& summary) const {
  if (summary.defined() && summary.dim() == 2 && summary.size(1) == o_.memory) return;
  throw ShapeError(fmt::format("{}: summary is {}; need (B, {})", kDecoder,
                               summary.defined() ? summary.shape().str() : "undefined", o_.memory));
}

AttentionDecoder::Source AttentionDecoder::prepare(const Encoded& source) const {
  if (!attention) {
    check_summary(source.summary);
    return {{}, source.summary};
  }
  return {attention->prepare(source.memory, source.memory, source.keep_mask), {}};
}

AttentionDecoder::State AttentionDecoder::start(const Encoded& source) const {
  check_summary(source.summary);
  const int64_t b = source.summary.size(0);
  // (B, states * layers * H) -> (states * layers, B, H)
  const Tensor first =
      transpose(reshape(tanh(bridge(source.summary)), {b, states() * o_.layers, o_.hidden}), 0, 1)
          .contiguous();
  State s;
  s.cell.h = narrow(first, 0, 0, o_.layers);
  if (states() == 2) s.cell.c = narrow(first, 0, o_.layers, o_.layers);
  if (feeds()) s.fed = zeros({b, 1, o_.hidden}, first.dtype());
  return s;
}

AttentionDecoder::Steps AttentionDecoder::operator()(const Tensor& ids, const Source& source,
                                                     State& state) const {
  const int64_t b = state.cell.h.size(1);
  if (!ids.defined() || ids.dim() != 2 || ids.size(0) != b || ids.size(1) == 0) {
    throw ShapeError(fmt::format("{}: ids is {}, there are {} sources; need (B, T), B = {}, T >= 1",
                                 kDecoder, ids.defined() ? ids.shape().str() : "undefined", b, b));
  }
  const Tensor e = dropout(embedding(ids));
  Steps steps = !attention || (luong() && !feeds()) ? at_once(e, source, state)
                : luong()                           ? step_then_look(e, source, state)
                                                    : look_then_step(e, source, state);
  state.step += ids.size(1);
  return steps;
}

// The state of the last layer as a query, (B, 1, H).
Tensor AttentionDecoder::top(const RecurrentState& s) const {
  return unsqueeze(select(s.h, 0, -1), 1);
}

AttentionDecoder::Steps AttentionDecoder::at_once(const Tensor& e, const Source& source,
                                                  State& state) const {
  Tensor context, weights;
  if (!attention) {
    context = expand(unsqueeze(source.summary, 1), {e.size(0), e.size(1), o_.memory});
  }
  const RecurrentOutput out = (*cell)(attention ? e : cat({e, context}, 2), state.cell);
  state.cell = out.state;
  if (attention) {
    SoftAttended seen = attention->attend(out.output, source.attention, state.step);
    context = seen.context;
    weights = seen.weights;
  }
  const Tensor f =
      luong() ? readout(cat({out.output, context}, 2)) : readout(cat({out.output, context, e}, 2));
  return {dropout(tanh(f)), weights};
}

AttentionDecoder::Steps AttentionDecoder::look_then_step(const Tensor& e, const Source& source,
                                                         State& state) const {
  Tensors contexts, outputs, weights;
  for (int64_t t = 0; t < e.size(1); ++t) {
    const SoftAttended seen = attention->attend(top(state.cell), source.attention, state.step + t);
    const RecurrentOutput out = (*cell)(cat({narrow(e, 1, t, 1), seen.context}, 2), state.cell);
    state.cell = out.state;
    contexts.push_back(seen.context);
    outputs.push_back(out.output);
    weights.push_back(seen.weights);
  }
  const Tensor f = readout(cat({cat(outputs, 1), cat(contexts, 1), e}, 2));
  return {dropout(tanh(f)), cat(weights, 1)};
}

AttentionDecoder::Steps AttentionDecoder::step_then_look(const Tensor& e, const Source& source,
                                                         State& state) const {
  Tensors features, weights;
  for (int64_t t = 0; t < e.size(1); ++t) {
    const RecurrentOutput out = (*cell)(cat({narrow(e, 1, t, 1), state.fed}, 2), state.cell);
    state.cell = out.state;
    const SoftAttended seen = attention->attend(out.output, source.attention, state.step + t);
    state.fed = dropout(tanh(readout(cat({out.output, seen.context}, 2))));
    features.push_back(state.fed);
    weights.push_back(seen.weights);
  }
  return {cat(features, 1), cat(weights, 1)};
}

void AttentionDecoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("dropout", dropout);
  v("bridge", bridge);
  v("cell", cell);
  v("attention", attention);
  v("readout", readout);
  v("output", output);
}

}  // namespace fovea
