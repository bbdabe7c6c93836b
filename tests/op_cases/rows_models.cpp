// Whole models as functions of their parameters.
#include <cmath>
#include <memory>

#include "fovea/nn/transformer/bert.h"
#include "fovea/nn/transformer/gpt.h"
#include "fovea/nn/transformer/llama.h"
#include "fovea/nn/transformer/transformer.h"
#include "fovea/nn/transformer/vit.h"
#include "tests/op_cases/layer_row.h"
#include "tests/op_cases/naive_transformer.h"

namespace fovea::cases {
namespace {

template <class L>
OpCase of_ids(const char* name, const char* label, L model, int64_t vocab) {
  OpCase row =
      small(module_row(name, std::make_shared<L>(std::move(model)), {integers({2, 3}, 0, vocab)},
                       [](L& l, const Tensors& in) { return l(in[0]); }));
  row.label = label;
  row.zero = with_arguments(row, {{0, 3}});
  row.one = with_arguments(row, {{1, 1}});
  row.big = with_arguments(row, {{40, 5}});
  row.bad = {{row.inputs, ErrorKind::shape, std::string(name) + ": ids is [3]"}};
  row.bad[0].inputs[0] = integers({3}, 0, vocab);
  return row;
}

// x plus rows 0 ... T - 1 of a table of positions.
NaiveTensor placed(const NaiveTensor& x, const NaiveTensor& table) {
  return build(x.shape, [&](const Shape& i) { return x.at(i) + table.at({i[1], i[2]}); });
}

const NaiveHeads kTwoCausal{.heads = 2, .kv_heads = 2, .sees = sees_the_past};
const NaiveHeads kTwo{.heads = 2, .kv_heads = 2};

OpCase gpt() {
  OpCase row = of_ids("GPT", "",
                      GPT({.vocab = 3,
                           .context = 5,
                           .d_model = 4,
                           .heads = 2,
                           .layers = 2,
                           .d_ff = 3,
                           .activation = Activation::gelu}),
                      3);
  row.naive = [](const NaiveTensors& x) {
    Parameters p{x, 1};
    const NaiveTensor& tokens = p.next();
    NaiveTensor h = placed(look_up(tokens, x[0]), p.next());
    for (int i = 0; i < 2; ++i) h = encoder_layer(h, p, kTwoCausal, true);
    return affine(take_norm(p)(h), tokens);
  };
  return row;
}

OpCase llama(bool tied) {
  OpCase row = of_ids("Llama", tied ? "tied" : "",
                      Llama({.vocab = 3,
                             .context = 5,
                             .d_model = 8,
                             .heads = 4,
                             .kv_heads = 2,
                             .layers = 1,
                             .d_ff = 3,
                             .tied = tied}),
                      3);
  row.naive = [tied](const NaiveTensors& x) {
    Parameters p{x, 1};
    const NaiveTensor& tokens = p.next();
    const NaiveTensor h = llama_block(
        look_up(tokens, x[0]), p,
        {.heads = 4, .kv_heads = 2, .sees = sees_the_past, .rotary = RopePairing::half});
    const NaiveTensor n = rms_norm(h, p.next());
    return affine(n, tied ? tokens : p.next());
  };
  return row;
}

// Ids; then, of the one with segments, these and which tokens are no padding.
NaiveTensor naive_bert(const NaiveTensors& x, bool segments) {
  Parameters p{x, segments ? size_t{3} : size_t{1}};
  const NaiveTensor& tokens = p.next();
  NaiveTensor h = placed(look_up(tokens, x[0]), p.next());
  if (segments) h = plus(h, look_up(p.next(), x[1]));
  NaiveHeads heads = kTwo;
  if (segments) heads.sees = [&](int64_t b, int64_t, int64_t j) { return x[2].at({b, j}) != 0; };
  const NaiveNorm first = take_norm(p);
  h = encoder_layer(first(h), p, heads, false);
  const NaiveTensor &weight = p.next(), &bias = p.next();
  const NaiveNorm last = take_norm(p);
  return affine(last(gelu(affine(h, weight, bias))), tokens, p.next());
}

OpCase bert(bool segments) {
  Bert model({.vocab = 3,
              .context = 5,
              .segments = segments ? 2 : 0,
              .d_model = 4,
              .heads = 2,
              .layers = 1,
              .d_ff = 3,
              .dropout = 0,
              .eps = 1e-5});
  if (!segments) {
    OpCase row = of_ids("Bert", "", std::move(model), 3);
    row.naive = [](const NaiveTensors& x) { return naive_bert(x, false); };
    return row;
  }
  OpCase row = small(module_row(
      "Bert", std::make_shared<Bert>(std::move(model)),
      {integers({2, 3}, 0, 3), integers({2, 3}, 0, 2), bools({2, 3}).holding({1, 1, 0, 0, 1, 1})},
      [](Bert& l, const Tensors& in) {
        return l(in[0], {.keep_mask = in[2], .segments = in[1]});
      }));
  row.label = "segments";
  row.naive = [](const NaiveTensors& x) { return naive_bert(x, true); };
  return row;
}

OpCase transformer(bool tied) {
  const TransformerLayerOptions layer{
      .d_model = 4, .heads = 2, .d_ff = 3, .dropout = 0, .activation = Activation::gelu};
  auto model = std::make_shared<Transformer>(TransformerOptions{.source_vocab = 4,
                                                                .target_vocab = 3,
                                                                .layer = layer,
                                                                .encoder_layers = 1,
                                                                .decoder_layers = 1,
                                                                .tied = tied});
  OpCase row =
      small(module_row("Transformer", model, {integers({2, 3}, 0, 4), integers({2, 2}, 0, 3)},
                       [](Transformer& l, const Tensors& in) { return l(in[0], in[1]); }));
  row.label = tied ? "" : "untied";
  row.naive = [tied](const NaiveTensors& x) {
    Parameters p{x, 2};
    const NaiveTensor &source = p.next(), &target = p.next();
    const auto embed = [](const NaiveTensor& table, const NaiveTensor& ids) {
      const NaiveTensor rows = look_up(table, ids);
      return build(rows.shape, [&](const Shape& i) {
        const auto t = static_cast<double>(i[1]);
        const double angle = t * std::pow(10000.0, -static_cast<double>(i[2] / 2 * 2) / 4);
        return 2 * rows.at(i) + (i[2] % 2 == 0 ? std::sin(angle) : std::cos(angle));
      });
    };
    const NaiveTensor memory = encoder_layer(embed(source, x[0]), p, kTwo, false);
    const NaiveTensor h = decoder_layer(embed(target, x[1]), memory, p, 2, false);
    return affine(h, tied ? target : p.next());
  };
  row.zero = with_arguments(row, {{0, 3}, {0, 2}});
  row.one = with_arguments(row, {{1, 1}, {1, 1}});
  row.big = with_arguments(row, {{40, 5}, {40, 6}});
  return row;
}

OpCase vit() {
  OpCase row =
      small(module_row("ViT",
                       std::make_shared<ViT>(ViTOptions{.image = 4,
                                                        .channels = 1,
                                                        .patch = 2,
                                                        .classes = 3,
                                                        .d_model = 4,
                                                        .heads = 2,
                                                        .layers = 1,
                                                        .d_ff = 3}),
                       {floats({2, 1, 4, 4})}, [](ViT& l, const Tensors& in) { return l(in[0]); }));
  row.naive = [](const NaiveTensors& x) {
    Parameters p{x, 1};
    const NaiveTensor &weight = p.next(), &bias = p.next(), &token = p.next();
    const NaiveTensor patches = build({x[0].shape[0], 4, 4}, [&](const Shape& i) {
      return x[0].at({i[0], 0, i[1] / 2 * 2 + i[2] / 2, i[1] % 2 * 2 + i[2] % 2});
    });
    const NaiveTensor rows = affine(patches, weight, bias);
    const NaiveTensor all = build({x[0].shape[0], 5, 4}, [&](const Shape& i) {
      return i[1] == 0 ? token.at({i[2]}) : rows.at({i[0], i[1] - 1, i[2]});
    });
    NaiveTensor h = encoder_layer(placed(all, p.next()), p, kTwo, true, 1e-6);
    NaiveNorm last = take_norm(p);
    last.eps = 1e-6;
    h = last(h);
    const NaiveTensor first = build({h.shape[0], 4}, [&](const Shape& i) {
      return h.at({i[0], 0, i[1]});
    });
    const NaiveTensor& head = p.next();
    return affine(first, head, p.next());
  };
  row.zero = with_arguments(row, {{0, 1, 4, 4}});
  row.one = with_arguments(row, {{1, 1, 4, 4}});
  row.big = with_arguments(row, {{70, 1, 4, 4}});
  row.bad = {{row.inputs, ErrorKind::shape, "ViT: images is [1, 1, 6, 6]"}};
  row.bad[0].inputs[0] = floats({1, 1, 6, 6});
  return row;
}

}  // namespace

std::vector<OpCase> rows_models() {
  return {gpt(),      llama(false),      llama(true),        bert(false),
          bert(true), transformer(true), transformer(false), vit()};
}

}  // namespace fovea::cases
