// State under PyTorch's names.
#include "fovea/nn/interchange/torch_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/core/error.h"
#include "fovea/nn/transformer/decoder.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::vector<std::string> names(const Module& m) {
  std::vector<std::string> list;
  for (const auto& [name, t] : torch_state(m)) list.push_back(name + t.shape().str());
  return list;
}

TransformerLayerOptions layer() { return {.d_model = 4, .heads = 2, .d_ff = 6, .dropout = 0}; }

// The keys of torch.nn's state_dict() of the same layers.
TEST(TorchNames, AreThoseOfPyTorch) {
  EXPECT_THAT(names(TransformerEncoderLayer(layer())),
              UnorderedElementsAre("self_attn.in_proj_weight[12, 4]", "self_attn.in_proj_bias[12]",
                                   "self_attn.out_proj.weight[4, 4]", "self_attn.out_proj.bias[4]",
                                   "linear1.weight[6, 4]", "linear1.bias[6]",
                                   "linear2.weight[4, 6]", "linear2.bias[4]", "norm1.weight[4]",
                                   "norm1.bias[4]", "norm2.weight[4]", "norm2.bias[4]"));
  EXPECT_THAT(
      names(MultiHeadAttention({.d_model = 4, .heads = 2, .kdim = 3, .vdim = 5})),
      UnorderedElementsAre("q_proj_weight[4, 4]", "k_proj_weight[4, 3]", "v_proj_weight[4, 5]",
                           "in_proj_bias[12]", "out_proj.weight[4, 4]", "out_proj.bias[4]"));
  const auto decoder = names(TransformerDecoder({.layer = layer(), .layers = 2}));
  EXPECT_EQ(decoder.size(), 36u);
  EXPECT_THAT(decoder, ::testing::Contains("layers.1.multihead_attn.in_proj_weight[12, 4]"));
  EXPECT_THAT(decoder, ::testing::Contains("layers.0.norm3.bias[4]"));
}

TEST(TorchNames, LoadingThemGivesTheSameLayer) {
  manual_seed(1);
  const TransformerStackOptions o{.layer = layer(), .layers = 2};
  const TransformerDecoder from(o);
  TransformerDecoder to(o);
  const Tensor x = randn({2, 3, 4}), memory = randn({2, 5, 4});
  EXPECT_FALSE(equal(from(x, memory), to(x, memory)));
  load_torch_state(to, torch_state(from));
  EXPECT_TRUE(equal(from(x, memory), to(x, memory)));
}

TEST(TorchNames, AStateThatDoesNotFitChangesNothing) {
  manual_seed(2);
  TransformerEncoderLayer m(layer());
  const Tensor x = randn({1, 3, 4}), before = m(x);
  NamedTensors state = torch_state(TransformerEncoderLayer(layer()));
  state.erase(state.begin());
  state.emplace_back("linear3.bias", zeros({1}));
  try {
    load_torch_state(m, state);
    FAIL() << "nothing was thrown";
  } catch (const ShapeError& e) {
    EXPECT_THAT(e.what(), HasSubstr("linear3.bias"));
    EXPECT_THAT(e.what(), HasSubstr("self_attn.in_proj_weight"));
  }
  EXPECT_TRUE(equal(m(x), before));
  EXPECT_THROW((void)torch_state(MultiHeadAttention({.d_model = 4, .heads = 2, .kv_heads = 1})),
               ValueError);
}

}  // namespace
}  // namespace fovea
