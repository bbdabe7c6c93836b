// The layers of nn/transformer/ as functions of their inputs and parameters.
#include <memory>

#include "fovea/nn/rms_norm.h"
#include "fovea/nn/transformer/decoder.h"
#include "fovea/nn/transformer/encoder.h"
#include "fovea/nn/transformer/llama.h"
#include "fovea/nn/transformer/vit.h"
#include "tests/op_cases/layer_row.h"
#include "tests/op_cases/naive_transformer.h"

namespace fovea::cases {
namespace {

template <class L>
OpCase of_one(const char* name, L layer, const InputSpec& x) {
  return small(module_row(name, std::make_shared<L>(std::move(layer)), {x},
                          [](L& l, const Tensors& in) { return l(in[0]); }));
}

TransformerLayerOptions layer_options(bool pre) {
  return {.d_model = 4,
          .heads = 2,
          .d_ff = 5,
          .dropout = 0,
          .activation = Activation::gelu,
          .pre_norm = pre};
}

void add_transformer_parts(std::vector<OpCase>& rows) {
  OpCase rms = of_one("RMSNorm", RMSNorm(5), floats({2, 3, 5}));
  rms.naive = [](const NaiveTensors& x) { return rms_norm(x[0], x[1]); };
  rms.zero = {{0, 3, 5}, {5}};
  rms.one = {{1, 1, 5}, {5}};
  rms.big = {{300, 40, 5}, {5}};
  rms.bad = {{{floats({2, 3}), floats({5})}, kShape, "RMSNorm: x is [2, 3]"}};
  rows.push_back(std::move(rms));

  OpCase row = of_one("MLP", MLP({.d_model = 3, .d_ff = 5}), floats({2, 2, 3}));
  row.naive = [](const NaiveTensors& x) {
    Parameters p{x, 1};
    return mlp(x[0], p);
  };
  row.zero = with_arguments(row, {{2, 0, 3}});
  row.one = with_arguments(row, {{1, 1, 3}});
  row.big = with_arguments(row, {{300, 20, 3}});
  rows.push_back(std::move(row));

  row = of_one("SwiGLU", SwiGLU({.d_model = 3, .d_ff = 4}), floats({2, 2, 3}));
  row.naive = [](const NaiveTensors& x) {
    Parameters p{x, 1};
    return swiglu(x[0], p);
  };
  row.zero = with_arguments(row, {{2, 0, 3}});
  row.one = with_arguments(row, {{1, 1, 3}});
  row.big = with_arguments(row, {{300, 20, 3}});
  rows.push_back(std::move(row));

  row = of_one("PatchEmbedding", PatchEmbedding({.channels = 2, .patch = 2, .d_model = 3}),
               floats({2, 2, 4, 6}));
  row.naive = [](const NaiveTensors& x) {
    const int64_t h = x[0].shape[2] / 2, w = x[0].shape[3] / 2;
    const NaiveTensor patches = build({x[0].shape[0], h * w, 8}, [&](const Shape& i) {
      const int64_t c = i[2] / 4, dy = i[2] / 2 % 2, dx = i[2] % 2;
      return x[0].at({i[0], c, 2 * (i[1] / w) + dy, 2 * (i[1] % w) + dx});
    });
    return affine(patches, x[1], x[2]);
  };
  row.zero = with_arguments(row, {{0, 2, 4, 6}});
  row.one = with_arguments(row, {{1, 2, 2, 2}});
  row.big = with_arguments(row, {{3, 2, 40, 60}});
  row.bad = {{{floats({1, 2, 3, 4}), floats({3, 8}), floats({3})},
              kShape,
              "PatchEmbedding: images is [1, 2, 3, 4]"}};
  rows.push_back(std::move(row));
}

void add_layers(std::vector<OpCase>& rows, bool pre, std::optional<RopePairing> rotary = {}) {
  const char* label = rotary ? "rotary" : pre ? "pre_norm" : "";
  TransformerLayerOptions options = layer_options(pre);
  if (rotary) options.rotary = RotaryPositionsOptions{.pairing = *rotary};
  const NaiveHeads two{.heads = 2, .kv_heads = 2, .rotary = rotary};
  OpCase row =
      of_one("TransformerEncoderLayer", TransformerEncoderLayer(options), floats({2, 3, 4}));
  row.label = label;
  row.naive = [two, pre](const NaiveTensors& x) {
    Parameters p{x, 1};
    return encoder_layer(x[0], p, two, pre);
  };
  row.zero = with_arguments(row, {{0, 3, 4}});
  row.one = with_arguments(row, {{1, 1, 4}});
  row.big = with_arguments(row, {{5, 70, 4}});
  rows.push_back(std::move(row));

  const auto decode = [](auto& l, const Tensors& in) { return l(in[0], in[1]); };
  row = small(module_row("TransformerDecoderLayer",
                         std::make_shared<TransformerDecoderLayer>(options),
                         {floats({2, 2, 4}), floats({2, 3, 4})}, decode));
  row.label = label;
  row.naive = [pre, rotary](const NaiveTensors& x) {
    Parameters p{x, 2};
    return decoder_layer(x[0], x[1], p, 2, pre, rotary);
  };
  row.zero = with_arguments(row, {{2, 2, 4}, {2, 0, 4}});
  row.one = with_arguments(row, {{1, 1, 4}, {1, 1, 4}});
  row.big = with_arguments(row, {{5, 70, 4}, {5, 60, 4}});
  rows.push_back(std::move(row));
}

void add_stacks(std::vector<OpCase>& rows) {
  const NaiveHeads two{.heads = 2, .kv_heads = 2};
  constexpr bool pre = true;  // these end with a norm
  OpCase row =
      of_one("TransformerEncoder", TransformerEncoder({.layer = layer_options(pre), .layers = 2}),
             floats({1, 2, 4}));
  row.naive = [two](const NaiveTensors& x) {
    Parameters p{x, 1};
    NaiveTensor h = encoder_layer(x[0], p, two, pre);
    h = encoder_layer(h, p, two, pre);
    return take_norm(p)(h);
  };
  row.zero = with_arguments(row, {{0, 2, 4}});
  row.one = with_arguments(row, {{1, 1, 4}});
  row.big = with_arguments(row, {{5, 70, 4}});
  rows.push_back(std::move(row));

  const auto decode = [](auto& l, const Tensors& in) { return l(in[0], in[1]); };
  row = small(module_row("TransformerDecoder",
                         std::make_shared<TransformerDecoder>(
                             TransformerStackOptions{.layer = layer_options(pre), .layers = 2}),
                         {floats({1, 2, 4}), floats({1, 3, 4})}, decode));
  row.naive = [](const NaiveTensors& x) {
    Parameters p{x, 2};
    NaiveTensor h = decoder_layer(x[0], x[1], p, 2, pre);
    h = decoder_layer(h, x[1], p, 2, pre);
    return take_norm(p)(h);
  };
  row.zero = with_arguments(row, {{0, 2, 4}, {0, 3, 4}});
  row.one = with_arguments(row, {{1, 1, 4}, {1, 1, 4}});
  row.big = with_arguments(row, {{5, 70, 4}, {5, 60, 4}});
  rows.push_back(std::move(row));
}

void add_llama_block(std::vector<OpCase>& rows) {
  OpCase row = of_one(
      "LlamaBlock", LlamaBlock({.context = 8, .d_model = 8, .heads = 2, .kv_heads = 1, .d_ff = 3}),
      floats({1, 3, 8}));
  row.naive = [](const NaiveTensors& x) {
    Parameters p{x, 1};
    return llama_block(
        x[0], p, {.heads = 2, .kv_heads = 1, .sees = sees_the_past, .rotary = RopePairing::half});
  };
  row.zero = with_arguments(row, {{0, 3, 8}});
  row.one = with_arguments(row, {{1, 1, 8}});
  row.big = with_arguments(row, {{5, 70, 8}});
  rows.push_back(std::move(row));
}

}  // namespace

std::vector<OpCase> rows_transformer() {
  std::vector<OpCase> rows;
  add_transformer_parts(rows);
  for (const bool pre : {false, true}) add_layers(rows, pre);
  add_layers(rows, true, RopePairing::half);
  add_stacks(rows);
  add_llama_block(rows);
  return rows;
}

}  // namespace fovea::cases
