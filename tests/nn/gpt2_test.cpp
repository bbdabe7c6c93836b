// GPT-2's files: written, read, and refused.
#include "fovea/nn/interchange/gpt2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/core/error.h"
#include "fovea/io/safetensors.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

GPTOptions options() {
  return {.vocab = 7, .context = 6, .d_model = 8, .heads = 2, .layers = 2, .d_ff = 12};
}

class GPT2File : public ::testing::Test {
 protected:
  std::string path =
      (std::filesystem::path(::testing::TempDir()) / "fovea_gpt2.safetensors").string();
  ~GPT2File() override { std::filesystem::remove(path); }
};

TEST_F(GPT2File, GivesTheModelBack) {
  manual_seed(1);
  const GPT m(options());
  save_gpt2(m, path);
  const TensorMap file = read_safetensors(path);
  EXPECT_EQ(file.find("h.1.attn.c_attn.weight")->shape(), Shape({8, 24}));
  EXPECT_EQ(file.find("h.0.mlp.c_fc.weight")->shape(), Shape({8, 12}));
  const GPT n = load_gpt2(path, 2);
  EXPECT_EQ(n.options().layers, 2);
  const Tensor ids = tensor({{1, 6, 2, 0}});
  EXPECT_TRUE(equal(n(ids), m(ids)));
}

// What the file does not hold would be another number behind load_gpt2.
TEST_F(GPT2File, RefusesWhatItCannotHold) {
  for (const auto change : {+[](GPTOptions& o) { o.bias = false; },
                            +[](GPTOptions& o) { o.activation = Activation::gelu; },
                            +[](GPTOptions& o) { o.eps = 1e-6; }}) {
    GPTOptions o = options();
    change(o);
    EXPECT_THROW(save_gpt2(GPT(o), path), ValueError);
  }
  save_gpt2(GPT(options()), path);
  EXPECT_THROW((void)load_gpt2(path, -1), ValueError);
  EXPECT_THROW((void)load_gpt2(path, 3), IoError);
}

TEST_F(GPT2File, NamesWhatIsMissing) {
  save_gpt2(GPT(options()), path);
  TensorMap file = read_safetensors(path);
  std::erase_if(file.tensors, [](const auto& t) { return t.first == "h.1.ln_2.bias"; });
  write_safetensors(path, file);
  try {
    (void)load_gpt2(path, 2);
    FAIL() << "nothing was thrown";
  } catch (const IoError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr(path));
    EXPECT_THAT(e.what(), ::testing::HasSubstr("h.1.ln_2.bias"));
  }
}

}  // namespace
}  // namespace fovea
