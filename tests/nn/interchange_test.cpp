// PyTorch's layers, loaded by PyTorch's names: the same results and gradients.
#include <cmath>

#include "fovea/io/safetensors.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/interchange/torch_names.h"
#include "fovea/nn/transformer/decoder.h"
#include "io/temp_dir.h"
#include "nn/interchange_golden.h"

namespace fovea {
namespace {

using ::testing::AllOf;
using testing::expect_agreement;
using ::testing::HasSubstr;
using testing::identical;
using testing::message_of;
using testing::TempDir;

// ------------------------------------------------------------------ attention

auto attention(MultiHeadAttentionOptions o = {}) {
  return [o](DType t) {
    MultiHeadAttentionOptions with = o;
    with.d_model = 4;
    with.heads = 2;
    with.dtype = t;
    return MultiHeadAttention(with);
  };
}

// With the weights and without.
template <class Input>
NamedTensors attended(const MultiHeadAttention& m, Input in, const AttendOptions& o = {}) {
  const Attended both = m.attend(in("q"), in("k"), in("v"), o);
  EXPECT_TRUE(equal(both.output, m(in("q"), in("k"), in("v"), o)));
  return {{"y", both.output}, {"weights", both.weights}};
}

// PyTorch's masks say what is not seen: of keys (B, Tk), of queries and keys (Tq, Tk).
Tensor seen(const Tensor& padding, const Tensor& pairs = {}) {
  const Tensor keys = reshape(logical_not(padding), {padding.size(0), 1, 1, padding.size(1)});
  return pairs.defined() ? logical_and(keys, logical_not(pairs)) : keys;
}

TEST(TorchNames, MultiHeadAttention) {
  const auto plain = [](const auto& m, auto in) { return attended(m, in); };
  expect_agreement("attention", attention(), plain);
  expect_agreement("attention_widths", attention({.kdim = 3, .vdim = 5}), plain);
  expect_agreement("attention_no_bias", attention({.bias = false}), plain);
  expect_agreement("attention_no_bias_keys", attention({.bias = false, .kdim = 3}), plain);
  expect_agreement("attention_values", attention({.vdim = 5}), plain);
  expect_agreement("attention_masked", attention(), [](const auto& m, auto in) {
    return attended(m, in, {.keep_mask = seen(in("key_padding_mask"), in("attn_mask"))});
  });
  expect_agreement("attention_added", attention(), [](const auto& m, auto in) {
    return attended(m, in, {.bias = in("attn_mask")});
  });
}

// ------------------------------------------------------------------ tied tensors

// PyTorch's save_model keeps one name of a tied tensor, save_file refuses two.
TEST(TorchNames, TiedTensorsUnderOneNameOrSeveral) {
  struct Tied : Module {
    Embedding table{5, 4};
    Linear head{LinearOptions{.in = 4, .out = 5, .bias = false}};
    Tied() { head.weight = table.weight; }
    void visit(Visitor& v) override {
      v("table", table);
      v("head", head);
    }
  };
  Tied m;
  const Tensor ones_ = ones({5, 4}), nans = full({5, 4}, std::nan(""));
  for (const NamedTensors& state :
       {NamedTensors{{"table.weight", ones_}}, NamedTensors{{"head.weight", ones_}},
        NamedTensors{{"head.weight", ones_}, {"table.weight", ones_}}}) {
    m.table.weight.detach().fill_(0);
    load_torch_state(m, state);
    EXPECT_TRUE(equal(m.head.weight, ones_));
  }
  load_torch_state(m, {{"head.weight", nans}, {"table.weight", nans}});
  EXPECT_THAT(message_of<ShapeError>([&] {
                load_torch_state(m, {{"head.weight", nans}, {"table.weight", ones_}});
              }),
              HasSubstr("head.weight: is tied to table.weight"));
  EXPECT_THAT(message_of<ShapeError>([&] { load_torch_state(m, {}); }),
              HasSubstr("missing: table.weight;"));
}

// ------------------------------------------------------------------ transformers

TransformerLayerOptions options(DType t, bool pre_norm) {
  return {.d_model = 4,
          .heads = 2,
          .d_ff = 6,
          .activation = pre_norm ? Activation::gelu : Activation::relu,
          .pre_norm = pre_norm,
          .dtype = t};
}
template <class Layer>
auto layer(bool pre_norm) {
  return [pre_norm](DType t) { return Layer(options(t, pre_norm)); };
}
template <class Stack>
auto stack() {
  return [](DType t) { return Stack({.layer = options(t, true), .layers = 2}); };
}

TEST(TorchNames, TransformerEncoder) {
  const auto plain = [](const auto& m, auto in) { return NamedTensors{{"y", m(in("x"))}}; };
  expect_agreement("encoder_layer", layer<TransformerEncoderLayer>(false), plain);
  expect_agreement("encoder_layer_pre_norm", layer<TransformerEncoderLayer>(true), plain);
  expect_agreement("encoder_layer_masked", layer<TransformerEncoderLayer>(false),
                   [](const auto& m, auto in) {
                     const Tensor keep = seen(in("src_key_padding_mask"), in("src_mask"));
                     return NamedTensors{{"y", m(in("x"), {.keep_mask = keep})}};
                   });
  expect_agreement("encoder", stack<TransformerEncoder>(), plain);
}

TEST(TorchNames, TransformerDecoder) {
  const auto plain = [](const auto& m, auto in) {
    return NamedTensors{{"y", m(in("x"), in("memory"))}};
  };
  expect_agreement("decoder_layer", layer<TransformerDecoderLayer>(false), plain);
  expect_agreement("decoder_layer_pre_norm", layer<TransformerDecoderLayer>(true), plain);
  expect_agreement("decoder_layer_masked", layer<TransformerDecoderLayer>(false),
                   [](const auto& m, auto in) {
                     const DecodeOptions o{.keep_mask = seen(in("tgt_key_padding_mask")),
                                           .memory_keep_mask = seen(in("memory_key_padding_mask"))};
                     return NamedTensors{{"y", m(in("x"), in("memory"), o)}};
                   });
  expect_agreement("decoder", stack<TransformerDecoder>(), plain);
}

TEST(TorchNames, Parts) {
  const auto plain = [](const auto& m, auto in) { return NamedTensors{{"y", m(in("x"))}}; };
  expect_agreement(
      "linear", [](DType t) { return Linear({.in = 4, .out = 3, .dtype = t}); }, plain);
  expect_agreement(
      "linear_no_bias",
      [](DType t) { return Linear({.in = 4, .out = 3, .bias = false, .dtype = t}); }, plain);
  expect_agreement(
      "norm", [](DType t) { return LayerNorm({.dim = 5, .eps = 1e-3, .dtype = t}); }, plain);
  expect_agreement(
      "embedding",
      [](DType t) { return Embedding({.count = 6, .dim = 3, .padding_idx = 2, .dtype = t}); },
      plain);
}

// ------------------------------------------------------------------ files and refusals

// A layer inside another, beside parameters of its own.
struct Model : Module {
  Embedding tokens{6, 4};
  TransformerDecoder decoder{{.layer = options(f32, true), .layers = 2}};
  Tensor scale = ones({}).requires_grad_();
  void visit(Visitor& v) override {
    v("tokens", tokens);
    v("decoder", decoder);
    v("scale", scale);
  }
};

TEST(TorchNames, ThereAndBackThroughAFile) {
  const TempDir dir;
  manual_seed(1);
  Model a, b;
  const NamedTensors state = torch_state(a);
  EXPECT_TRUE(find(state, "tokens.weight").defined());
  EXPECT_TRUE(find(state, "decoder.layers.1.multihead_attn.in_proj_weight").defined());
  EXPECT_TRUE(find(state, "decoder.layers.0.linear2.bias").defined());
  EXPECT_TRUE(find(state, "scale").defined());
  save_torch(a, dir / "a.safetensors");
  const TensorMap file = read_safetensors(dir / "a.safetensors");
  EXPECT_TRUE(identical(file.tensors, state));
  EXPECT_EQ(file.metadata.at("format"), "pt");
  EXPECT_FALSE(identical(b.state(), a.state()));
  load_torch(b, dir / "a.safetensors");
  EXPECT_TRUE(identical(b.state(), a.state()));
  EXPECT_TRUE(b.decoder.layers[0].cross_attention.w_k.weight.requires_grad());
  for (const auto& [key, t] : state) t.fill_(0);  // copies: a is as it was
  EXPECT_TRUE(identical(b.state(), a.state()));
}

TEST(TorchNames, ListsEveryMisfitAndChangesNothing) {
  const TempDir dir;
  MultiHeadAttention m({.d_model = 4, .heads = 2});
  const NamedTensors before = snapshot(m.state());
  const std::string path = dir / "other.safetensors";
  write_safetensors(path, {{{"in_proj_weight", zeros({12, 4})},
                            {"in_proj_bias", zeros({4})},
                            {"out_proj.weight", zeros({4, 4}, i64)},
                            {"bias_k", zeros({1, 1, 4})}},
                           {}});
  EXPECT_THAT(message_of<IoError>([&] { load_torch(m, path); }),
              AllOf(HasSubstr(path), HasSubstr("missing: out_proj.bias;"),
                    HasSubstr("extra: bias_k;"), HasSubstr("in_proj_bias: is [4] f32, need [12]"),
                    HasSubstr("out_proj.weight: is [4, 4] i64, need [4, 4] f32")));
  EXPECT_TRUE(identical(m.state(), before));
  NamedTensors twice = torch_state(m);
  twice.push_back(twice[0]);
  EXPECT_THAT(message_of<ShapeError>([&] { load_torch_state(m, twice); }),
              HasSubstr("in_proj_weight: is given twice"));
  EXPECT_THROW(load_torch(m, dir / "absent"), IoError);
}

TEST(TorchNames, RefusesWhatPyTorchHasNoFormOf) {
  struct Holder : Module {
    MultiHeadAttention inner;
    explicit Holder(const MultiHeadAttentionOptions& o) : inner(o) {}
    void visit(Visitor& v) override { v("inner", inner); }
  };
  Holder grouped({.d_model = 8, .heads = 4, .kv_heads = 2});
  EXPECT_THAT(message_of<ValueError>([&] { torch_state(grouped); }),
              AllOf(HasSubstr("inner has 4 heads and 2 of keys"), HasSubstr("no such form")));
  EXPECT_THROW(load_torch_state(grouped, {}), ValueError);
  const Holder turned({.d_model = 8, .heads = 4, .rotary = RotaryPositionsOptions{}});
  EXPECT_THAT(message_of<ValueError>([&] { torch_state(turned); }),
              HasSubstr("inner has rotary positions"));
}

}  // namespace
}  // namespace fovea
