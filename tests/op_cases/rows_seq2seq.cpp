// Encoders, decoders and whole sequence-to-sequence models, as functions of their parameters.
#include <functional>
#include <memory>

#include "tests/op_cases/layer_row.h"
#include "tests/op_cases/naive_attention.h"
#include "tests/op_cases/naive_recurrent.h"
#include "tests/op_cases/naive_seq2seq.h"

namespace fovea::cases {
namespace {

constexpr int64_t kPadding = 3;  // no id that is drawn

// Two sentences, of which the second has a word less.
InputSpec source_ids() { return integers({2, 3}, 0, kPadding).holding({1, 0, 2, 2, 1, kPadding}); }

// One row a sentence of each list, with 0 where it is shorter.
NaiveTensor rows_of(const std::vector<std::vector<Values1d>>& lists, int64_t rows, int64_t width) {
  return build({static_cast<int64_t>(lists.size()), rows, width}, [&](const Shape& at) {
    const auto& list = lists[static_cast<size_t>(at[0])];
    const auto t = static_cast<size_t>(at[1]), i = static_cast<size_t>(at[2]);
    return t < list.size() && i < list[t].size() ? list[t][i] : 0.0;
  });
}

// ------------------------------------------------------------------ encoders

// Memory, and the summary as one row more. What a Transformer says at padding is nobody's.
Tensor memory_and_summary(const Encoded& read) {
  const Tensor memory =
      where(unsqueeze(read.keep_mask, 2), read.memory, zeros({}, read.memory.dtype()));
  return cat({memory, unsqueeze(read.summary, 1)}, 1);
}

template <class E>
OpCase encoder_row(const char* name, const EncoderOptions& o, std::shared_ptr<E> encoder) {
  OpCase row = small(module_row(name, encoder, {source_ids()}, [](const E& l, const Tensors& in) {
    return memory_and_summary(l(in[0]));
  }));
  row.naive = [o](const NaiveTensors& x) {
    Parameters p{x, 1};
    std::vector<std::vector<Values1d>> lists;
    for (NaiveRead& read : naive_encoder(o, x[0], p)) {
      read.memory.resize(static_cast<size_t>(x[0].shape[1]));
      read.memory.push_back(read.summary);
      lists.push_back(std::move(read.memory));
    }
    return rows_of(lists, x[0].shape[1] + 1, o.width);
  };
  row.zero = with_arguments(row, {{0, 3}});
  row.one = with_arguments(row, {{1, 1}});
  row.big = with_arguments(row, {{400, 5}});
  row.bad = {{{integers({3}, 0, 3)}, kShape, "Encoder: source is [3]; need (B, S)"},
             {{integers({2, 0}, 0, 3)}, kShape, "Encoder: source is [2, 0]; need (B, S)"},
             {{floats({2, 3})}, kDType, "Encoder: source is f32 [2, 3]; tokens are i64"}};
  for (BadCase& bad : row.bad) {
    bad.f = [encoder](const Tensors& in) { return (*encoder)(in[0]).memory; };
  }
  return row;
}

EncoderOptions encoder_options(const std::string& kind, int64_t width = 2, int64_t heads = 1) {
  return {.kind = kind,
          .vocab = kPadding + 1,
          .embedding = 2,
          .width = width,
          .heads = heads,
          .padding_idx = kPadding};
}

// With a small MLP of gelu, which has no kinks.
std::unique_ptr<TransformerSourceEncoder> smooth_encoder(const EncoderOptions& o) {
  auto encoder = std::make_unique<TransformerSourceEncoder>(o);
  encoder->layers.layers[0].mlp = MLP({.d_model = o.width, .d_ff = 3});
  return encoder;
}

// ------------------------------------------------------------------ decoders

using Mask = std::function<bool(int64_t b, int64_t j)>;

// f, V f + b and a of every step, side by side; a_tj at the place of word j.
NaiveTensor steps_of(const std::vector<NaiveSteps>& all, int64_t time, int64_t width,
                     const NaiveTensor& output, const NaiveTensor& bias, int64_t words,
                     const Mask& is_word) {
  std::vector<std::vector<Values1d>> lists;
  for (size_t b = 0; b < all.size(); ++b) {
    lists.emplace_back();
    for (size_t t = 0; t < all[b].features.size(); ++t) {
      const Values1d& f = all[b].features[t];
      Values1d a;
      size_t word = 0;
      for (int64_t j = 0; j < words; ++j) {
        a.push_back(is_word(static_cast<int64_t>(b), j) ? all[b].weights[t][word++] : 0);
      }
      lists[b].push_back(joined({f, naive_affine(output, bias, f), a}));
    }
  }
  return rows_of(lists, time, width + output.shape[0] + words);
}

// What it is called with: ids, memory, summary, and which of the memory are words.
OpCase decoder_row() {
  const AttentionDecoderOptions o{.vocab = 3, .embedding = 2, .hidden = 3, .memory = 2};
  const std::vector<InputSpec> inputs{integers({2, 2}, 0, 3), floats({2, 3, 2}), floats({2, 2}),
                                      bools({2, 3}).holding({1, 1, 1, 1, 0, 1})};
  const auto decoder = std::make_shared<AttentionDecoder>(o);
  const auto call = [](const AttentionDecoder& l, const Tensors& in) {
    const Encoded read{in[1], in[2], in[3]};
    AttentionDecoder::State state = l.start(read);
    const AttentionDecoder::Steps steps = l(in[0], l.prepare(read), state);
    return cat({steps.features, l.logits(steps.features), steps.weights}, 2);
  };
  OpCase row = small(module_row("AttentionDecoder", decoder, inputs, call));
  row.naive = [o](const NaiveTensors& x) {
    const auto is_word = [&](int64_t b, int64_t j) { return x[3].at({b, j}) != 0; };
    std::vector<NaiveRead> sources;
    for (int64_t b = 0; b < x[0].shape[0]; ++b) {
      NaiveRead read;
      for (int64_t j = 0; j < x[1].shape[1]; ++j) {
        if (is_word(b, j)) read.memory.push_back(line_at(x[1], b, j));
      }
      for (int64_t i = 0; i < x[2].shape[1]; ++i) read.summary.push_back(x[2].at({b, i}));
      sources.push_back(std::move(read));
    }
    Parameters p{x, 4};
    const auto steps = naive_decoder(o, x[0], sources, p);
    const NaiveTensor& output = p.next();
    return steps_of(steps, x[0].shape[1], o.hidden, output, p.next(), x[1].shape[1], is_word);
  };
  row.zero = with_arguments(row, {{0, 2}, {0, 3, 2}, {0, 2}, {0, 3}});
  row.one = with_arguments(row, {{1, 1}, {1, 1, 2}, {1, 2}, {1, 1}});
  row.big = with_arguments(row, {{300, 3}, {300, 5, 2}, {300, 2}, {300, 5}});
  const auto refuses = [&](const InputSpec& ids, ErrorKind kind, const char* says) {
    row.bad.push_back({row.inputs, kind, says});
    row.bad.back().inputs[0] = ids;
  };
  refuses(integers({2}, 0, 3), kShape, "AttentionDecoder: ids is [2], there are 2 sources");
  refuses(integers({3, 2}, 0, 3), kShape, "AttentionDecoder: ids is [3, 2], there are 2 sources");
  refuses(integers({2, 0}, 0, 3), kShape, "AttentionDecoder: ids is [2, 0], there are 2 sources");
  refuses(floats({2, 2}), kDType, "embedding: ids is f32");
  return row;
}

// ------------------------------------------------------------------ models

OpCase model_row(const char* label, Seq2SeqOptions o) {
  o.source_vocab = kPadding + 1;
  o.target_vocab = 4;
  o.embedding = 2;
  o.hidden = o.encoder == "transformer" ? 3 : 2;  // a norm of two numbers has no slope
  o.heads = 1;
  o.padding_idx = kPadding;
  const auto model = std::make_shared<Seq2Seq>(o);
  EncoderOptions source = encoder_options(o.encoder, o.hidden);
  source.bidirectional = o.bidirectional;
  if (o.encoder == "transformer") model->encoder = smooth_encoder(source);
  OpCase row =
      small(module_row("Seq2Seq", model, {source_ids(), integers({2, 2}, 0, 3)},
                       [](const Seq2Seq& l, const Tensors& in) { return l.logits(in[0], in[1]); }));
  row.label = label;
  row.naive = [source, target = model->decoder.options()](const NaiveTensors& x) {
    Parameters p{x, 2};
    const auto read = naive_encoder(source, x[0], p);
    const auto steps = naive_decoder(target, x[1], read, p);
    const NaiveTensor& output = p.next();
    const NaiveTensor& bias = p.next();
    std::vector<std::vector<Values1d>> lists;
    for (const NaiveSteps& sentence : steps) {
      lists.emplace_back();
      for (const Values1d& f : sentence.features) {
        lists.back().push_back(naive_affine(output, bias, f));
      }
    }
    return rows_of(lists, x[1].shape[1], target.vocab);
  };
  return row;
}

void add_models(std::vector<OpCase>& rows) {
  constexpr auto kLuong = DecoderOrder::luong;
  OpCase row = model_row("", {});
  row.zero = with_arguments(row, {{0, 3}, {0, 2}});
  row.one = with_arguments(row, {{1, 1}, {1, 1}});
  row.big = with_arguments(row, {{300, 4}, {300, 3}});
  row.bad = {{row.inputs, kShape, "Encoder: source is [3]; need (B, S)"}};
  row.bad[0].inputs[0] = integers({3}, 0, 3);
  rows.push_back(std::move(row));
  rows.push_back(model_row("luong", {.attention = "general", .order = kLuong}));
  rows.push_back(model_row("unfed", {.cell = "lstm",
                                     .attention = "dot",
                                     .order = kLuong,
                                     .input_feeding = false,
                                     .decoder_layers = 2,
                                     .bidirectional = false}));
  rows.push_back(model_row(
      "local_p",
      {.encoder = "rnn", .cell = "rnn", .attention = "local-p", .order = kLuong, .window = 1}));
  rows.push_back(model_row("none", {.encoder = "lstm", .attention = "none"}));
  rows.push_back(model_row("none_luong", {.attention = "none", .order = kLuong}));
  rows.push_back(model_row("transformer", {.encoder = "transformer", .decoder_layers = 2}));
}

}  // namespace

std::vector<OpCase> rows_seq2seq() {
  std::vector<OpCase> rows;
  const EncoderOptions gru = encoder_options("gru"),
                       transformer = encoder_options("transformer", 4, 2);
  rows.push_back(encoder_row("RecurrentEncoder", gru, std::make_shared<RecurrentEncoder>(gru)));
  rows.push_back(
      encoder_row("TransformerSourceEncoder", transformer,
                  std::shared_ptr<TransformerSourceEncoder>(smooth_encoder(transformer))));
  rows.push_back(decoder_row());
  add_models(rows);
  return rows;
}

}  // namespace fovea::cases
