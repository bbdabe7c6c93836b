#include "fovea/optim/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/io/safetensors.h"
#include "fovea/nn/dropout.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/ops/ops.h"
#include "fovea/optim/adam.h"
#include "fovea/optim/clip.h"
#include "fovea/optim/schedule.h"
#include "fovea/optim/sgd.h"
#include "io/temp_dir.h"

namespace {

using namespace fovea;
using fovea::testing::message_of;
using fovea::testing::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A frozen layer in the middle, a tied table, dropout, and a table of running counts.
struct Model : Module {
  Embedding table{11, 8};
  Linear first{8, 8}, frozen{8, 8}, last{8, 8};
  LayerNorm norm{8};
  Dropout drop{0.3};
  Linear head{LinearOptions{.in = 8, .out = 11, .bias = false}};
  Tensor seen = zeros({}, i64);

  Model() {
    head.weight = table.weight;
    frozen.requires_grad_(false);
  }
  Tensor operator()(const Tensor& ids) const {
    seen.add_(ids.numel());
    return head(last(drop(norm(tanh(frozen(relu(first(table(ids)))))))));
  }
  void visit(Visitor& v) override {
    v("table", table);
    v("first", first);
    v("frozen", frozen);
    v("last", last);
    v("norm", norm);
    v("drop", drop);
    v("head", head);
    v.buffer("seen", seen);
  }
};

constexpr int64_t kItems = 28, kBatch = 4;  // an epoch is 7 steps: saving at 5 is in the middle

// Everything a training program has.
template <class MakeOptimizer>
struct Training {
  Model model;
  decltype(MakeOptimizer()(model)) optimizer = MakeOptimizer()(model);
  Schedule schedule{optimizer, WarmUp{.steps = 3, .after = CosineLR{.steps = 12}}};
  Generator data{77};
  TrainingRun run{.parts = {{"model", &model}, {"optimizer", &optimizer}, {"schedule", &schedule}},
                  .generators = {{"data", &data}}};

  // The order of an epoch follows from the generator as it stood when the epoch began, so that is
  // what stays in `data` until the epoch ends.
  Tensor order() const {
    Generator g = data;
    return randperm(kItems, &g);
  }

  std::vector<double> train(int steps) {
    std::vector<double> losses;
    for (int i = 0; i < steps; ++i) {
      Progress& at = run.progress;
      const Tensor ids =
          floor_divide(order().slice(0, at.position, at.position + kBatch) * 11, kItems);
      const Tensor loss = cross_entropy(model(ids), floor_divide(ids * 3 + 1, 4));
      optimizer.zero_grad();
      loss.backward();
      clip_grad_norm(model.parameters(), 1);
      optimizer.step();
      schedule.step();
      losses.push_back(loss.item());
      ++at.step;
      at.position += kBatch;
      if (at.position == kItems) {
        at.position = 0;
        ++at.epoch;
        data.next();
      }
    }
    return losses;
  }
};

struct MakeAdamW {
  AdamW operator()(const Model& m) const { return AdamW(m, {.lr = .05}); }
};
struct MakeSgd {
  SGD operator()(const Model& m) const { return SGD(m, {.lr = .1, .momentum = .9}); }
};

template <class Make>
class Checkpoints : public ::testing::Test {};
using Makers = ::testing::Types<MakeAdamW, MakeSgd>;
TYPED_TEST_SUITE(Checkpoints, Makers);

TYPED_TEST(Checkpoints, TenStepsEqualFiveSaveLoadFive) {
  const TempDir dir;
  manual_seed(1);
  Training<TypeParam> whole;
  const Tensor frozen = clone(whole.model.frozen.weight).detach();
  std::vector<double> want = whole.train(10);
  EXPECT_TRUE(equal(whole.model.frozen.weight.detach(), frozen));
  EXPECT_EQ(whole.run.progress.epoch, 1);

  manual_seed(1);
  std::vector<double> got;
  {
    Training<TypeParam> half;
    got = half.train(5);
    half.run.metadata["flags"] = "--seed 1";
    save_checkpoint(dir / "run.safetensors", half.run);
  }
  manual_seed(999);  // a process that knows nothing
  Training<TypeParam> rest;
  rest.data.set_state({5, 5});
  load_checkpoint(dir / "run.safetensors", rest.run);
  EXPECT_EQ(rest.run.progress.step, 5);
  EXPECT_EQ(rest.run.progress.position, 20);
  EXPECT_EQ(rest.run.metadata.at("flags"), "--seed 1");
  for (double loss : rest.train(5)) got.push_back(loss);

  EXPECT_EQ(got, want);
  const NamedTensors a = whole.model.state(), b = rest.model.state();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(equal(a[i].second, b[i].second)) << a[i].first;
  const NamedTensors c = whole.optimizer.state(), d = rest.optimizer.state();
  ASSERT_EQ(c.size(), d.size());
  for (size_t i = 0; i < c.size(); ++i) EXPECT_TRUE(equal(c[i].second, d[i].second)) << c[i].first;
}

TEST(Checkpoint, HoldsATiedTensorOnceAndKeepsItTied) {
  const TempDir dir;
  Training<MakeAdamW> a, b;
  a.train(1);
  save_checkpoint(dir / "run", a.run);
  const std::string bytes = fovea::testing::slurp(dir / "run");
  EXPECT_EQ(bytes.find("head.weight"), std::string::npos);
  load_checkpoint(dir / "run", b.run);
  EXPECT_TRUE(b.model.head.weight.same_as(b.model.table.weight));
  EXPECT_TRUE(equal(b.model.head.weight.detach(), a.model.table.weight.detach()));
}

TEST(Checkpoint, KeepsTheWholeGeneratorState) {
  const TempDir dir;
  Generator g(0xfedcba9876543210u);
  g.set_state({0xfedcba9876543210u, 0xffffffffffffffffu});
  manual_seed(0x8000000000000001u);
  TrainingRun run{.generators = {{"g", &g}}};
  save_checkpoint(dir / "run", run);
  g.set_state({1, 2});
  manual_seed(3);
  load_checkpoint(dir / "run", run);
  EXPECT_EQ(g.state().seed, 0xfedcba9876543210u);
  EXPECT_EQ(g.state().stream, 0xffffffffffffffffu);
  EXPECT_EQ(default_generator().state().seed, 0x8000000000000001u);
}

TEST(Checkpoint, ReportsAllPartsTogetherAndChangesNothing) {
  const TempDir dir;
  Linear small(2, 3);
  Adam adam(small);
  small.weight.set_grad(ones({3, 2}));
  adam.step();
  const std::string path = dir / "run.safetensors";
  save_checkpoint(path, {.parts = {{"model", &small}, {"optimizer", &adam}, {"old", &small}}});

  Linear big({.in = 2, .out = 4, .bias = false});
  SGD sgd(big, {.momentum = .9});
  Schedule schedule(sgd, StepLR{});
  const Tensor before = clone(big.weight).detach();
  const RandomKey key = default_generator().state();
  TrainingRun run{.parts = {{"model", &big}, {"optimizer", &sgd}, {"schedule", &schedule}},
                  .generators = {{"data", &default_generator()}}};
  run.progress.step = 3;
  const std::string what = message_of<IoError>([&] { load_checkpoint(path, run); });
  EXPECT_THAT(what,
              AllOf(HasSubstr(path), HasSubstr("optimizer.weight.momentum_buffer"),
                    HasSubstr("schedule.t"), HasSubstr("generator.data"), HasSubstr("model.bias"),
                    HasSubstr("optimizer.weight.exp_avg"), HasSubstr("old.weight"),
                    HasSubstr("model.weight: is [3, 2] f32, need [4, 2] f32")));
  EXPECT_EQ(what.find('\n'), std::string::npos);
  EXPECT_TRUE(equal(big.weight.detach(), before));
  EXPECT_EQ(default_generator().state().stream, key.stream);
  EXPECT_EQ(run.progress.step, 3);
}

// Each number of a checkpoint that decides how the run goes on, changed to what no run can save.
TEST(Checkpoint, RefusesNumbersThatNoRunCanSave) {
  const TempDir dir;
  Training<MakeAdamW> a;
  ReduceLROnPlateau plateau(a.optimizer);
  a.run.parts.emplace_back("plateau", &plateau);
  a.train(2);
  const std::string path = dir / "run.safetensors";
  save_checkpoint(path, a.run);
  const TensorMap good = read_safetensors(path);
  const double nan = std::nan(""), inf = HUGE_VAL;
  struct Bad {
    const char* name;
    Tensor value;
    const char* message;
  };
  const std::vector<Bad> list = {
      {"optimizer.group.0.lr", full({}, -1, f64), "is -1, need a finite number >= 0"},
      {"optimizer.group.0.lr", full({}, nan, f64), "is nan, need a finite number >= 0"},
      {"optimizer.group.0.lr", full({}, inf, f64), "is inf, need a finite number >= 0"},
      {"optimizer.first.weight.step", full({}, -5, i64), "is -5, need a count from 0 to 2^53"},
      {"optimizer.first.weight.step", full({}, int64_t{1} << 62, i64), "need a count"},
      {"optimizer.first.weight.exp_avg_sq", full({8, 8}, -1e-30), "holds negative numbers"},
      {"schedule.t", full({}, -5, i64), "is -5, need a count from 0 to 2^53"},
      {"schedule.base_lr", full({1}, -1, f64), "holds -1, a learning rate of -1"},
      {"schedule.base_lr", full({1}, nan, f64), "holds nan"},
      {"plateau.best", full({}, nan, f64), "is nan"},
      {"plateau.bad_epochs", full({}, -1, i64), "is -1, need a count from 0 to 2^53"},
      {"plateau.cooldown", full({}, -1, i64), "is -1, need a count from 0 to 2^53"},
      {"progress.epoch", full({}, -1, i64), "is -1, need a count from 0 to 2^53"},
      {"progress.step", full({}, -5, i64), "is -5, need a count from 0 to 2^53"},
      {"progress.position", full({}, -1, i64), "is -1, need a count from 0 to 2^53"}};
  for (const Bad& bad : list) {
    TensorMap file = good;
    for (auto& [name, t] : file.tensors) {
      if (name == bad.name) t = bad.value;
    }
    write_safetensors(path, file);
    const NamedTensors before = snapshot(a.model.state());
    EXPECT_THAT(
        message_of<IoError>([&] { load_checkpoint(path, a.run); }),
        AllOf(HasSubstr(path), HasSubstr(std::string(bad.name) + ": "), HasSubstr(bad.message)))
        << bad.name;
    EXPECT_EQ(a.run.progress.step, 2);
  }
  write_safetensors(path, good);
  load_checkpoint(path, a.run);
}

// A run that has diverged can be loaded, to look at it.
TEST(Checkpoint, TakesTheNaNsOfARunThatDiverged) {
  const TempDir dir;
  Linear l(2, 2);
  Adam adam(l);
  l.weight.set_grad(full({2, 2}, std::nan("")));
  adam.step();
  TrainingRun run{.parts = {{"model", &l}, {"optimizer", &adam}}};
  save_checkpoint(dir / "run", run);
  load_checkpoint(dir / "run", run);
}

TEST(Checkpoint, GivesOnePartAlone) {
  const TempDir dir;
  Training<MakeAdamW> a;
  a.train(2);
  save_checkpoint(dir / "run", a.run);
  Model m;
  load_part(dir / "run", "model", m);
  EXPECT_TRUE(equal(m.first.weight.detach(), a.model.first.weight.detach()));
  EXPECT_THAT(message_of<IoError>([&] { load_part(dir / "run", "critic", m); }),
              HasSubstr("missing: critic.table.weight"));
}

TEST(Checkpoint, RefusesNamesThatCollide) {
  const TempDir dir;
  Linear l(2, 2);
  Generator g;
  const auto save = [&](const TrainingRun& run) { save_checkpoint(dir / "run", run); };
  EXPECT_THROW(save({.parts = {{"a", &l}, {"a", &l}}}), ValueError);
  EXPECT_THROW(save({.parts = {{"a.b", &l}}}), ValueError);
  EXPECT_THROW(save({.parts = {{"", &l}}}), ValueError);
  EXPECT_THROW(save({.parts = {{"progress", &l}}}), ValueError);
  EXPECT_THROW(save({.parts = {{"a", nullptr}}}), ValueError);
  EXPECT_THROW(save({.generators = {{"default", &g}}}), ValueError);
  EXPECT_TRUE(dir.list().empty());
}

}  // namespace
