#include "examples/seq2seq/config.h"

#include "fovea/io/vocabulary.h"
#include "fovea/nn/seq2seq/seq2seq.h"
#include "fovea/nn/transformer/transformer.h"

namespace fovea::seq2seq {

examples::RecordedFlags Config::recorded() {
  examples::RecordedFlags f("seq2seq");
  f.add("task", task).add_free("file", file).add("stress", stress);
  f.add("samples", samples).add("shortest", shortest).add("longest", longest).add("unit", unit);
  f.add("source-column", source_column).add("target-column", target_column);
  f.add("min-count", min_count).add("max-vocabulary", max_vocabulary).add("merges", merges);
  f.add("max-length", max_length).add("max-pairs", max_pairs);
  f.add("attention", attention).add("cell", cell).add("encoder", encoder).add("order", order);
  f.add("no-input-feeding", no_input_feeding).add("positions", positions);
  f.add("layers", layers).add("hidden", hidden).add("embedding", embedding).add("heads", heads);
  f.add("window", window).add("dropout", dropout).add("seed", seed).add("epochs", epochs);
  f.add("batch", batch)
      .add("lr", lr)
      .add("beta2", beta2)
      .add("min-lr", min_lr)
      .add("warm-up", warm_up);
  f.add("clip", clip).add("label-smoothing", label_smoothing).add("weight-decay", weight_decay);
  f.add("sampling", sampling).add_free("test-limit", test_limit).add_free("beams", decode.beams);
  f.add_free("length-penalty", decode.length_penalty);
  f.add_free("coverage-penalty", decode.coverage_penalty);
  f.add("source-vocabulary", source_vocabulary).add("target-vocabulary", target_vocabulary);
  f.add("source-bpe", source_bpe).add("target-bpe", target_bpe).add("max-source", max_source);
  f.add_free("data", data);  // another is refused when the data have been read
  return f;
}

Config preset(const std::string& task, const std::string& attention) {
  Config c;
  c.task = task;
  c.attention = attention;
  if (task == "dates" || task == "reverse") {
    c.hidden = 64;
    c.embedding = 32;
    c.dropout = 0;
    c.label_smoothing = 0;
    c.epochs = task == "dates" ? 5 : 15;
    c.lr = 5e-3;
    c.min_lr = 1e-4;
    c.batch = 32;
  }
  if (task == "pairs") {
    c.epochs = 10;
    c.batch = 64;
    c.lr = 1e-3;
  }
  if (attention == "transformer") {
    c.layers = task == "phonemes" ? 2 : 3;
    if (task == "phonemes") c.epochs = 20;
    c.hidden = task == "phonemes" || task == "pairs" ? 128 : 64;
    c.dropout = 0.1;
    c.lr = 2e-3;
    c.beta2 = 0.98;
    c.warm_up = 400;
  }
  return c;
}

std::unique_ptr<EncoderDecoder> make_model(const Config& c, int64_t source_vocab,
                                           int64_t target_vocab) {
  if (c.attention == "transformer") {
    // attention_dropout: a token is often seen by one head alone, and without its weight by none.
    TransformerLayerOptions layer{.d_model = c.hidden,
                                  .heads = c.heads,
                                  .dropout = c.dropout,
                                  .attention_dropout = 0,
                                  .activation = Activation::gelu,
                                  .pre_norm = true};
    if (c.positions == "rotary") layer.rotary = RotaryPositionsOptions{};
    return std::make_unique<Transformer>(TransformerOptions{.source_vocab = source_vocab,
                                                            .target_vocab = target_vocab,
                                                            .layer = layer,
                                                            .encoder_layers = c.layers,
                                                            .decoder_layers = c.layers,
                                                            .padding_idx = Vocabulary::pad});
  }
  return std::make_unique<Seq2Seq>(
      Seq2SeqOptions{.source_vocab = source_vocab,
                     .target_vocab = target_vocab,
                     .embedding = c.embedding,
                     .hidden = c.hidden,
                     .encoder = c.encoder,
                     .cell = c.cell,
                     .attention = c.attention == "scaled" ? "scaled_dot" : c.attention,
                     .order = c.order == "luong" ? DecoderOrder::luong : DecoderOrder::bahdanau,
                     .input_feeding = !c.no_input_feeding,
                     .encoder_layers = c.layers,
                     .decoder_layers = c.layers,
                     .heads = c.heads,
                     .window = c.window,
                     .max_source = c.max_source,
                     .dropout = c.dropout,
                     .padding_idx = Vocabulary::pad});
}

}  // namespace fovea::seq2seq
