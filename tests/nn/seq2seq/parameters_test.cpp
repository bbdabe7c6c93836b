// The parameters of a model: their names, their gradients, on disk, and on any number of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/core/engine.h"
#include "fovea/nn/serialize.h"
#include "fovea/ops/ops.h"
#include "tests/cases/near.h"
#include "tests/io/temp_dir.h"
#include "tests/nn/seq2seq/models.h"

namespace fovea {
namespace {

using namespace testing;

std::vector<std::string> names_of(const Module& m) {
  std::vector<std::string> names;
  for (const auto& [name, p] : m.named_parameters()) names.push_back(name);
  return names;
}

TEST(Seq2Seq, NamesItsParameters) {
  EXPECT_THAT(names_of(Seq2Seq(options_of({}))),
              ::testing::ElementsAre(
                  "encoder.embedding.weight", "encoder.layers.weight_ih_l0",
                  "encoder.layers.weight_hh_l0", "encoder.layers.bias_ih_l0",
                  "encoder.layers.bias_hh_l0", "encoder.layers.weight_ih_l0_reverse",
                  "encoder.layers.weight_hh_l0_reverse", "encoder.layers.bias_ih_l0_reverse",
                  "encoder.layers.bias_hh_l0_reverse", "decoder.embedding.weight",
                  "decoder.bridge.weight", "decoder.bridge.bias", "decoder.cell.weight_ih_l0",
                  "decoder.cell.weight_hh_l0", "decoder.cell.bias_ih_l0", "decoder.cell.bias_hh_l0",
                  "decoder.attention.score.w_q.weight", "decoder.attention.score.w_k.weight",
                  "decoder.attention.score.v", "decoder.readout.weight", "decoder.readout.bias",
                  "decoder.output.weight", "decoder.output.bias"));
  const auto local = names_of(Seq2Seq(options_of({.attention = "local-p"})));
  for (const char* name : {"score.w.weight", "w.weight", "v.weight"}) {
    EXPECT_THAT(local, ::testing::Contains(std::string("decoder.attention.") + name));
  }
  for (const auto& name : names_of(Seq2Seq(options_of({.attention = "none"})))) {
    EXPECT_EQ(name.find("decoder.attention"), std::string::npos) << name;
  }
}

// The bias of keys moves all scores of a query alike, which softmax does not see.
bool unseen(const std::string& name) { return name.ends_with("w_k.bias"); }

TEST(Seq2Seq, AGradientReachesEveryParameter) {
  for (const Kind& k : all_kinds()) {
    const auto model = model_of(k);
    sum(square(model->logits(a_source(), a_target()))).backward();
    for (const auto& [name, p] : model->named_parameters()) {
      ASSERT_TRUE(p.grad().defined()) << k.str() << " " << name;
      EXPECT_TRUE(all(isfinite(p.grad()))) << k.str() << " " << name;
      if (!unseen(name)) {
        EXPECT_GT(max(abs(p.grad())).item(), 1e-8) << k.str() << " " << name;
      }
    }
  }
}

TEST(Seq2Seq, ComesBackFromDisk) {
  for (const Kind& k : few_kinds()) {
    const TempDir dir;
    const auto model = model_of(k), other = model_of(k);
    {
      const NoGrad scope;
      for (const Tensor& p : other->parameters()) p.mul_(-0.5);
    }
    const Tensor want = model->logits(a_source(), a_target());
    EXPECT_FALSE(equal(other->logits(a_source(), a_target()), want));
    save(*model, dir / "model.safetensors");
    load(*other, dir / "model.safetensors");
    EXPECT_TRUE(equal(other->logits(a_source(), a_target()), want)) << k.str();
  }
}

TEST(Seq2Seq, ComputesInTheTypeOfItsParameters) {
  for (const Kind& k : all_kinds()) {
    const auto wide = model_of(k, f64), narrow = model_of(k, f64);
    narrow->to(f32);
    const Tensor want = wide->logits(a_source(), a_target());
    const Tensor found = narrow->logits(a_source(), a_target());
    ASSERT_EQ(found.dtype(), f32) << k.str();
    EXPECT_LE(max(abs(found - want)).item(), 1e-4) << k.str();
    EXPECT_EQ(narrow->decoding(a_source())->next(begin_of(a_source())).dtype(), f32) << k.str();
    narrow->to(f64);
    EXPECT_EQ(narrow->logits(a_source(), a_target()).dtype(), f64) << k.str();
  }
}

// Dropout acts in training alone.
TEST(Seq2Seq, DropsWhileTrainingOnly) {
  for (const Kind& k : few_kinds()) {
    if (k.decoder == "transformer") continue;
    Seq2SeqOptions o = options_of(k);
    o.dropout = 0.5;
    Seq2Seq model(o);
    const auto logits = [&] { return model.logits(a_source(), a_target()); };
    EXPECT_FALSE(equal(logits(), logits())) << k.str();
    model.eval();
    EXPECT_TRUE(equal(logits(), logits())) << k.str();
  }
}

TEST(Seq2Seq, HasTheSameBitsOnAnyNumberOfThreads) {
  const ThreadScope restore;
  for (const Kind& k : few_kinds()) {
    const auto model = model_of(k);
    manual_seed(8);
    const Tensor source = randint(1, kSymbols, {70, 8}), target = randint(1, kSymbols, {70, 5});
    Tensors first;
    for (const int n : {1, 2, 8}) {
      set_threads(n);
      const Tensor y = model->logits(source, target);
      Tensors all = grad(sum(square(y)), model->parameters());
      all.push_back(y.detach());
      if (n == 1) first = all;
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_TRUE(equal(all[i], first[i])) << k.str() << ", " << n << " threads, " << i;
      }
    }
  }
}

}  // namespace
}  // namespace fovea
