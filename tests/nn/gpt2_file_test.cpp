// Checkpoints of GPT-2 under Hugging Face's names.
#include <algorithm>
#include <cmath>

#include "fovea/core/allocator.h"
#include "fovea/io/safetensors.h"
#include "fovea/nn/interchange/gpt2.h"
#include "io/temp_dir.h"
#include "nn/interchange_golden.h"

namespace fovea {
namespace {

using ::testing::AllOf;
using testing::become_gradients;
using testing::expect_near;
using testing::golden_file;
using ::testing::HasSubstr;
using testing::identical;
using testing::message_of;
using testing::stored;
using testing::TempDir;

constexpr int64_t kHeads = 2;

// Plain, with masks among the buffers, and with a prefix and the table a second time.
TEST(GPT2File, LogitsAndGradientsAreThoseOfPyTorch) {
  const TempDir dir;
  for (const std::string id : {"gpt2_f32", "gpt2_f16", "gpt2_bf16"}) {
    const GPT m = load_gpt2(golden_file(id), kHeads);
    EXPECT_EQ(m.options().layers, id == "gpt2_bf16" ? 1 : 2);
    EXPECT_EQ(m.options().d_ff, id == "gpt2_bf16" ? 12 : 32);
    EXPECT_EQ(m.context(), 7);
    EXPECT_TRUE(m.tokens.weight.requires_grad());
    const NamedTensors inputs = stored(id, "input");
    const Tensor logits = m(find(inputs, "ids"));
    const Tensor loss = cross_entropy(logits, find(inputs, "targets"));
    expect_near({{"logits", logits}, {"loss", loss}}, stored(id, "output"), 1e-5, id);
    loss.backward();
    become_gradients(m);
    save_gpt2(m, dir / id);
    expect_near(read_safetensors(dir / id).tensors, stored(id, "gradient"), 1e-5, id);
  }
}

TEST(GPT2File, ThereAndBackBitByBit) {
  const TempDir dir;
  const GPT a = load_gpt2(golden_file("gpt2_bf16"), kHeads);
  save_gpt2(a, dir / "a.safetensors");
  EXPECT_TRUE(identical(load_gpt2(dir / "a.safetensors", kHeads).state(), a.state()));
  // Of the published file nothing is lost but its masks.
  save_gpt2(load_gpt2(golden_file("gpt2_f32"), kHeads), dir / "b.safetensors");
  NamedTensors published = read_safetensors(golden_file("gpt2_f32")).tensors;
  std::erase_if(published, [](const auto& e) { return e.first.ends_with(".attn.bias"); });
  EXPECT_TRUE(identical(read_safetensors(dir / "b.safetensors").tensors, published));
}

// The tensors of models that differ in their heads are alike.
TEST(GPT2File, HeadsAreInTheMetadata) {
  const TempDir dir;
  save_gpt2(GPT({.vocab = 3, .context = 2, .d_model = 128, .heads = 4, .layers = 1, .d_ff = 1}),
            dir / "wide");
  EXPECT_EQ(load_gpt2(dir / "wide").options().heads, 4);
  EXPECT_EQ(load_gpt2(dir / "wide", 4).options().heads, 4);
  EXPECT_EQ(load_gpt2(dir / "wide", 4).options().d_ff, 1);
  EXPECT_THAT(message_of<IoError>([&] { load_gpt2(dir / "wide", 2); }),
              AllOf(HasSubstr(dir / "wide"),
                    HasSubstr("2 heads are asked for, the file was saved with 4")));
  EXPECT_THROW((void)load_gpt2(dir / "wide", -1), ValueError);
  TensorMap file = read_safetensors(dir / "wide");
  for (const char* wrong : {"", "0", "-4", "4.0", "4 ", "99999999999999999999"}) {
    file.metadata["n_head"] = wrong;
    write_safetensors(dir / "wrong", file);
    EXPECT_THAT(message_of<IoError>([&] { load_gpt2(dir / "wrong"); }),
                HasSubstr(fmt::format("n_head as '{}'", wrong)));
  }
  file.metadata["n_head"] = "3";
  write_safetensors(dir / "wrong", file);
  EXPECT_THAT(message_of<IoError>([&] { load_gpt2(dir / "wrong"); }),
              HasSubstr("the width 128 is no multiple of 3 heads"));
}

TEST(GPT2File, WithoutMetadataHeadsAreAskedFor) {
  const TempDir dir;
  EXPECT_THAT(message_of<IoError>([] { load_gpt2(golden_file("gpt2_f32")); }),
              AllOf(HasSubstr("does not say how many heads"), HasSubstr("8 wide in 2 layers")));
  // Those of the published sizes are known.
  const auto heads = [&](int64_t width, int64_t layers) {
    save_gpt2(
        GPT({.vocab = 1, .context = 1, .d_model = width, .heads = 1, .layers = layers, .d_ff = 1}),
        dir / "f");
    TensorMap file = read_safetensors(dir / "f");
    file.metadata.clear();
    write_safetensors(dir / "f", file);
    return load_gpt2(dir / "f").options().heads;
  };
  EXPECT_EQ(heads(768, 6), 12);
  EXPECT_THROW(heads(768, 1), IoError);
  EXPECT_THROW(heads(128, 1), IoError);
}

TEST(GPT2File, SavesGPT2sOnly) {
  const TempDir dir;
  const GPTOptions good{.vocab = 3, .context = 2, .d_model = 4};
  for (int i = 0; i < 3; ++i) {
    GPTOptions o = good;
    if (i == 0) o.bias = false;
    if (i == 1) o.activation = Activation::gelu;
    if (i == 2) o.eps = 1e-3;
    EXPECT_THAT(message_of<ValueError>([&] { save_gpt2(GPT(o), dir / "no"); }),
                HasSubstr("this is no GPT-2"));
  }
  EXPECT_TRUE(dir.list().empty());
}

// ------------------------------------------------------------------ files that do not fit

// What is said of a good file, changed.
template <class Change>
std::string refused(Change change) {
  const TempDir dir;
  TensorMap file = read_safetensors(golden_file("gpt2_f32"));
  change(file.tensors);
  const std::string path = dir / "bad.safetensors";
  write_safetensors(path, file);
  const std::string message = message_of<IoError>([&] { load_gpt2(path, kHeads); });
  EXPECT_THAT(message, HasSubstr(path));
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 0);
  return message;
}
auto drop(const std::string& part) {
  return [part](NamedTensors& list) {
    std::erase_if(list, [&](const auto& e) { return e.first.find(part) != std::string::npos; });
  };
}
auto put(const std::string& key, const Tensor& t) {
  return [key, t](NamedTensors& list) {
    std::erase_if(list, [&](const auto& e) { return e.first == key; });
    list.emplace_back(key, t);
  };
}

// A few bytes of a file may ask for a model of many: no memory is taken for it.
TEST(GPT2File, TakesNoMemoryForAModelThatTheFileDoesNotHold) {
  reset_peak_memory();
  const int64_t before = memory_stats().live_bytes;
  EXPECT_THAT(refused(put("h.0.mlp.c_fc.weight", zeros({0, int64_t{1} << 40}))),
              HasSubstr("h.0.mlp.c_fc.weight: is [0, 1099511627776] f32, need [8, 1099511627776]"));
  EXPECT_THAT(refused(put("h.0.mlp.c_fc.weight", zeros({0, int64_t{1} << 58}))),
              HasSubstr("more elements than memory can hold"));
  EXPECT_THAT(refused([](NamedTensors& list) {
                list = {{"wte.weight", zeros({1, 10'000})}, {"wpe.weight", zeros({1, 10'000})}};
                for (int i = 0; i < 20; ++i) list.emplace_back(fmt::format("h.{}.x", i), ones({}));
              }),
              HasSubstr("missing: h.0.ln_1.weight, "));
  EXPECT_THAT(refused(drop("h.")), HasSubstr("there is no h.0"));
  EXPECT_LT(memory_stats().peak_bytes - before, int64_t{1} << 22);
}

TEST(GPT2File, SaysWhatDoesNotFit) {
  EXPECT_THAT(refused(put("lm_head.weight", zeros({11, 8}))),
              HasSubstr("lm_head.weight differs from wte.weight"));
  EXPECT_THAT(refused(put("lm_head.weight", zeros({3, 8}))),
              HasSubstr("lm_head.weight differs from wte.weight"));
  EXPECT_THAT(refused(drop("h.0.")), AllOf(HasSubstr("missing: h.0.ln_1.weight, "),
                                           HasSubstr("extra: h.1.ln_1.weight, ")));
  EXPECT_THAT(refused(drop("h.1.ln_1.weight")),
              AllOf(HasSubstr("missing: h.1.ln_1.weight"), ::testing::Not(HasSubstr("extra"))));
  EXPECT_THAT(refused(drop("h.1.mlp.c_proj")),
              HasSubstr("missing: h.1.mlp.c_proj.weight, h.1.mlp.c_proj.bias"));
  EXPECT_THAT(refused(drop("ln_f.bias")), HasSubstr("missing: ln_f.bias"));
  EXPECT_THAT(refused(put("h.1.attn.c_attn.weight", zeros({24, 8}))),
              HasSubstr("h.1.attn.c_attn.weight: is [24, 8] f32, need [8, 24] f32"));
  EXPECT_THAT(refused(put("h.0.attn.c_attn.bias", zeros({24}, i64))),
              HasSubstr("h.0.attn.c_attn.bias: is [24] i64, need [24] f32"));
  EXPECT_THAT(refused(put("score.weight", zeros({2, 8}))), HasSubstr("extra: score.weight"));
  EXPECT_THAT(refused(put("transformer.wpe.weight", zeros({7, 8}))),
              HasSubstr("wpe.weight: is given twice"));
}

// The table under the name of the head alone, and one that holds NaN under both.
TEST(GPT2File, TheTableHasTwoNames) {
  const TempDir dir;
  const TensorMap good = read_safetensors(golden_file("gpt2_f32"));
  const NamedTensors want = load_gpt2(golden_file("gpt2_f32"), kHeads).state();
  TensorMap file = good;
  for (auto& [name, t] : file.tensors) {
    if (name == "wte.weight") name = "lm_head.weight";
  }
  write_safetensors(dir / "head", file);
  EXPECT_TRUE(identical(load_gpt2(dir / "head", kHeads).state(), want));
  file = good;
  for (auto& [name, t] : file.tensors) {
    if (name == "wte.weight") t = full(t.shape(), std::nan(""));
  }
  file.tensors.emplace_back("lm_head.weight", *file.find("wte.weight"));
  write_safetensors(dir / "nan", file);
  EXPECT_TRUE(std::isnan(load_gpt2(dir / "nan", kHeads).tokens.weight.at({0, 0})));
}

TEST(GPT2File, RefusesFilesOfAnotherKind) {
  EXPECT_THAT(refused([](NamedTensors& list) { list.clear(); }),
              HasSubstr("wte.weight is missing; a GPT-2 has a matrix of that name"));
  EXPECT_THAT(refused(drop("wpe")), HasSubstr("wpe.weight is missing"));
  EXPECT_THAT(refused(drop("h.0.mlp.c_fc")), HasSubstr("missing: h.0.mlp.c_fc.weight, h.0.mlp.c_"));
  EXPECT_THAT(refused(put("wte.weight", zeros({11}))), HasSubstr("wte.weight is [11]"));
  for (const Shape& empty : {Shape({0, 8}), Shape({11, 0})}) {
    EXPECT_THAT(refused(put("wte.weight", zeros(empty))),
                HasSubstr("wte.weight is " + empty.str()));
  }
  EXPECT_THAT(refused(put("wpe.weight", zeros({0, 8}))), HasSubstr("wpe.weight is [0, 8]"));
  EXPECT_THAT(refused(put("h.0.mlp.c_fc.weight", zeros({8, 0}))),
              HasSubstr("h.0.mlp.c_fc.weight: is [8, 0] f32, need [8, 32] f32"));
  EXPECT_THROW(load_gpt2("/nowhere/model.safetensors"), IoError);
}

}  // namespace
}  // namespace fovea
