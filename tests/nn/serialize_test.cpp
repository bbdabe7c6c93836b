#include "fovea/nn/serialize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/core/error.h"
#include "fovea/io/safetensors.h"
#include "fovea/nn/activation.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/sequential.h"
#include "fovea/ops/ops.h"
#include "io/temp_dir.h"

namespace {

using namespace fovea;
using fovea::testing::message_of;
using fovea::testing::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Serialize, ComesBackBitByBit) {
  const TempDir dir;
  manual_seed(1);
  Sequential a(Linear(5, 7), Tanh(), Linear(7, 2)), b(Linear(5, 7), Tanh(), Linear(7, 2));
  const Tensor x = randn({3, 5});
  save(a, dir / "net.safetensors", {{"made", "here"}});
  EXPECT_THAT(load(b, dir / "net.safetensors"), ElementsAre(std::pair("made", "here")));
  EXPECT_TRUE(equal(a(x), b(x)));
  EXPECT_TRUE(b.at<Linear>(0).weight.requires_grad());
  EXPECT_THAT(dir.list(), ElementsAre("net.safetensors"));
}

TEST(Serialize, ReadsTheLayoutOfPyTorch) {
  const TempDir dir;
  const Tensor w = randn({2, 3}), bias = randn({2});
  write_safetensors(dir / "t", {{{"bias", bias}, {"weight", w}}, {}});
  Linear l(3, 2);
  load(l, dir / "t");
  EXPECT_TRUE(equal(l.weight.detach(), w));
  EXPECT_TRUE(equal(l.bias.detach(), bias));
}

TEST(Serialize, NamesTheFileAndEveryMisfit) {
  const TempDir dir;
  Linear l(3, 2);
  const Tensor before = clone(l.weight).detach();
  const std::string path = dir / "other.safetensors";
  write_safetensors(path, {{{"weight", zeros({3, 2})}, {"scale", zeros({2})}}, {}});
  EXPECT_THAT(message_of<IoError>([&] { load(l, path); }),
              AllOf(HasSubstr(path), HasSubstr("missing: bias;"), HasSubstr("extra: scale;"),
                    HasSubstr("mismatched: weight: is [3, 2] f32, need [2, 3] f32")));
  EXPECT_TRUE(equal(l.weight.detach(), before));
  EXPECT_THROW(load(l, dir / "absent"), IoError);
}

}  // namespace
