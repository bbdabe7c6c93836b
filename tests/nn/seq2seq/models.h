// Small models of every kind, and a source and a target for them.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "fovea/nn/seq2seq/seq2seq.h"
#include "fovea/nn/transformer/transformer.h"

namespace fovea::testing {

constexpr int64_t kPad = 0, kBegin = 1, kSymbols = 7;

/// A Seq2Seq, or a Transformer when the decoder is "transformer".
struct Kind {
  std::string encoder = "gru", decoder = "gru", attention = "additive";
  DecoderOrder order = DecoderOrder::bahdanau;
  bool feeding = true;
  int64_t layers = 1;

  bool looks() const { return attention != "none"; }
  std::string str() const {
    const char* steps = order == DecoderOrder::bahdanau ? "bahdanau" : feeding ? "luong" : "unfed";
    std::string name = fmt::format("{}_{}_{}_{}_{}", encoder, attention, steps, decoder, layers);
    for (char& c : name) c = c == '-' ? '_' : c;
    return name;
  }
};
inline void PrintTo(const Kind& k, std::ostream* out) { *out << k.str(); }

inline std::vector<Kind> recurrent_kinds() {
  constexpr auto kLuong = DecoderOrder::luong;
  std::vector<Kind> all;
  for (const char* attention : {"dot", "scaled_dot", "cosine", "general", "additive", "concat",
                                "location", "local-m", "local-p", "none"}) {
    all.push_back({.attention = attention});
    all.push_back({.attention = attention, .order = kLuong});
    all.push_back({.attention = attention, .order = kLuong, .feeding = false});
  }
  for (const char* cell : {"rnn", "lstm"}) {
    all.push_back({.encoder = cell, .decoder = cell});
    all.push_back({.decoder = cell, .order = kLuong});
    all.push_back({.decoder = cell, .order = kLuong, .feeding = false, .layers = 2});
    all.push_back({.decoder = cell, .attention = "none", .layers = 2});
  }
  all.push_back({.layers = 2});
  all.push_back({.encoder = "transformer"});
  all.push_back({.encoder = "transformer", .attention = "none"});
  return all;
}
inline std::vector<Kind> all_kinds() {
  std::vector<Kind> all = recurrent_kinds();
  all.push_back({.encoder = "transformer", .decoder = "transformer", .layers = 2});
  return all;
}
/// One of each encoder and decoder.
inline std::vector<Kind> few_kinds() {
  constexpr auto kLuong = DecoderOrder::luong;
  return {{},
          {.attention = "general", .order = kLuong},
          {.decoder = "lstm", .attention = "local-p", .order = kLuong, .feeding = false},
          {.attention = "none"},
          {.encoder = "transformer"},
          {.encoder = "transformer", .decoder = "transformer", .layers = 2}};
}

inline Seq2SeqOptions options_of(const Kind& k, DType dtype = f32) {
  return {.source_vocab = kSymbols,
          .target_vocab = kSymbols,
          .embedding = 6,
          .hidden = 8,
          .encoder = k.encoder,
          .cell = k.decoder,
          .attention = k.attention,
          .order = k.order,
          .input_feeding = k.feeding,
          .encoder_layers = k.layers,
          .decoder_layers = k.layers,
          .heads = 2,
          .window = 3,
          .max_source = 8,
          .padding_idx = kPad,
          .dtype = dtype};
}

/// In eval mode, with weights large enough that steps differ.
inline std::unique_ptr<EncoderDecoder> model_of(const Kind& k, DType dtype = f32) {
  manual_seed(11);
  std::unique_ptr<EncoderDecoder> m;
  if (k.decoder == "transformer") {
    m = std::make_unique<Transformer>(TransformerOptions{
        .source_vocab = kSymbols,
        .target_vocab = kSymbols,
        .layer = {.d_model = 8, .heads = 2, .d_ff = 12, .dropout = 0, .dtype = dtype},
        .encoder_layers = k.layers,
        .decoder_layers = k.layers,
        .padding_idx = kPad});
  } else {
    m = std::make_unique<Seq2Seq>(options_of(k, dtype));
  }
  const NoGrad scope;
  for (const Tensor& p : m->parameters()) {
    if (p.dim() == 2) p.mul_(2);
  }
  m->eval();
  return m;
}

/// Sentences of 5, 3 and 4 words; what is made of them, of 4, 2 and 3 behind the beginning.
inline Tensor a_source() {
  return tensor({{3, 4, 5, 6, 2}, {6, 2, 3, kPad, kPad}, {2, 2, 5, 4, kPad}});
}
inline Tensor a_target() {
  return tensor({{kBegin, 2, 6, 4, 3}, {kBegin, 5, 3, kPad, kPad}, {kBegin, 6, 6, 5, kPad}});
}
inline Tensor begin_of(const Tensor& source) { return full({source.size(0), 1}, kBegin, i64); }

}  // namespace fovea::testing
