#include "fovea/nn/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/core/error.h"
#include "fovea/nn/activation.h"
#include "fovea/nn/dropout.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/sequential.h"
#include "fovea/ops/ops.h"

namespace {

using namespace fovea;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> names(const NamedTensors& list) {
  std::vector<std::string> out;
  for (const auto& [name, t] : list) out.push_back(name);
  return out;
}

template <class E, class F>
std::string message(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}

struct Model : Module {
  Embedding table{5, 4};
  std::vector<Linear> hidden;
  std::unique_ptr<LayerNorm> norm = std::make_unique<LayerNorm>(4);
  std::optional<Linear> absent;
  Dropout drop{0.5};
  Linear head{LinearOptions{.in = 4, .out = 5, .bias = false}};
  Tensor running = zeros({4});

  Model() {
    hidden.emplace_back(4, 4);
    hidden.emplace_back(4, 4, false);
    head.weight = table.weight;  // tied
  }
  void visit(Visitor& v) override {
    v("table", table);
    v("hidden", hidden);
    v("norm", norm);
    v("absent", absent);
    v("drop", drop);
    v.buffer("running", running);
    v("head", head);
  }
};

TEST(Module, NamesMembersInTheOrderOfVisit) {
  const Model m;
  EXPECT_THAT(names(m.named_parameters()),
              ElementsAre("table.weight", "hidden.0.weight", "hidden.0.bias", "hidden.1.weight",
                          "norm.weight", "norm.bias"));
  EXPECT_THAT(names(m.named_buffers()), ElementsAre("running"));
  EXPECT_THAT(names(m.state()),
              ElementsAre("table.weight", "hidden.0.weight", "hidden.0.bias", "hidden.1.weight",
                          "norm.weight", "norm.bias", "running"));
}

TEST(Module, CountsATiedTensorOnce) {
  const Model m;
  EXPECT_EQ(m.parameters().size(), 6u);
  EXPECT_EQ(m.numel(), 20 + 16 + 4 + 16 + 4 + 4);
}

TEST(Module, SwitchesTheModeOfEveryLayer) {
  Model m;
  m.eval();
  EXPECT_FALSE(m.training);
  EXPECT_FALSE(m.drop.training);
  EXPECT_FALSE(m.hidden[1].training);
  EXPECT_FALSE(m.norm->training);
  m.train();
  EXPECT_TRUE(m.drop.training);
}

TEST(Module, FreezesAndForgetsGradients) {
  Model m;
  const Tensor ids = tensor({0, 3});
  const auto loss = [&] { return sum(m.head((*m.norm)(m.hidden[0](m.table(ids))))); };
  loss().backward();
  EXPECT_TRUE(m.hidden[0].weight.grad().defined());
  m.zero_grad();
  EXPECT_FALSE(m.hidden[0].weight.grad().defined());
  m.hidden[0].requires_grad_(false);
  loss().backward();
  EXPECT_FALSE(m.hidden[0].weight.requires_grad());
  EXPECT_TRUE(m.table.weight.grad().defined());
  m.requires_grad_();
  EXPECT_TRUE(m.hidden[0].weight.requires_grad());
  EXPECT_TRUE(m.hidden[0].weight.is_leaf());
}

TEST(Module, LoadsAStateIntoTheSameTensors) {
  Model a, b;
  a.running.fill_(3);
  const Tensor handle = b.hidden[0].weight;
  const uint32_t version = handle.version();
  b.load_state(a.state());
  EXPECT_TRUE(equal(handle, a.hidden[0].weight));
  EXPECT_TRUE(handle.same_as(b.hidden[0].weight));
  EXPECT_TRUE(handle.requires_grad());
  EXPECT_GT(handle.version(), version);
  EXPECT_TRUE(equal(b.running, a.running));
  EXPECT_TRUE(b.head.weight.same_as(b.table.weight));
  b.load_state(b.state());  // into itself
  EXPECT_TRUE(equal(handle, a.hidden[0].weight));
}

TEST(Module, StateIsLiveAndASnapshotIsNot) {
  Model m;
  const NamedTensors live = m.state(), copy = snapshot(live);
  m.running.fill_(7);
  EXPECT_EQ(find(live, "running").at({0}), 7);
  EXPECT_EQ(find(copy, "running").at({0}), 0);
  EXPECT_FALSE(live[0].second.requires_grad());
}

TEST(Module, ReportsEveryMisfitTogetherAndChangesNothing) {
  Model m;
  NamedTensors state = snapshot(m.state());
  const Tensor before = clone(m.hidden[0].weight);
  state[0].first = "table.weigth";                 // table.weight missing, one extra
  state[1].second = ones({4, 4});                  // fits
  state[2].second = zeros({5});                    // hidden.0.bias: shape
  state[5].second = zeros({4}, f64);               // norm.bias: dtype
  state.emplace_back("hidden.2.bias", ones({4}));  // extra
  state.emplace_back("norm.weight", ones({4}));    // twice
  const std::string what = message<ShapeError>([&] { m.load_state(state); });
  EXPECT_THAT(what, AllOf(HasSubstr("missing: table.weight;"),
                          HasSubstr("extra: table.weigth, hidden.2.bias;"),
                          HasSubstr("norm.weight: is given twice"),
                          HasSubstr("hidden.0.bias: is [5] f32, need [4] f32"),
                          HasSubstr("norm.bias: is [4] f64, need [4] f32")));
  EXPECT_TRUE(equal(before, m.hidden[0].weight));
}

TEST(Module, LoadsPartsWhenNotStrict) {
  Model m;
  NamedTensors state{{"hidden.0.bias", full({4}, 2)}, {"other", zeros({1})}};
  const StateDiff diff = m.load_state(state, false);
  EXPECT_EQ(m.hidden[0].bias.at({1}), 2);
  EXPECT_EQ(diff.missing.size(), 6u);
  EXPECT_THAT(diff.extra, ElementsAre("other"));
  state[0].second = zeros({3});
  EXPECT_THROW(m.load_state(state, false), ShapeError);
}

TEST(Module, TakesTheSecondNameOfATiedTensorWhenItAgrees) {
  Model m;
  NamedTensors state = snapshot(m.state());
  state.emplace_back("head.weight", clone(m.table.weight).detach());
  EXPECT_TRUE(m.check_state(state).ok());
  state.back().second.fill_(0.5);
  EXPECT_THAT(message<ShapeError>([&] { m.load_state(state); }),
              HasSubstr("head.weight: is tied to table.weight"));
}

// A library that writes a tied tensor once may have kept any of its names.
TEST(Module, TakesATiedTensorUnderItsSecondNameAlone) {
  for (const bool strict : {true, false}) {
    Model m;
    NamedTensors state = snapshot(m.state());
    ASSERT_EQ(state[0].first, "table.weight");
    state[0] = {"head.weight", full({5, 4}, 3)};
    const StateDiff diff = m.load_state(state, strict);
    EXPECT_TRUE(diff.ok()) << diff.str();
    EXPECT_EQ(m.table.weight.at({2, 1}), 3);
    EXPECT_TRUE(m.head.weight.same_as(m.table.weight));
  }
  Model m;
  EXPECT_THAT(m.load_state({{"head.weight", full({5, 4}, 7)}}, false).missing.size(), 6u);
  EXPECT_EQ(m.table.weight.at({4, 3}), 7);
  EXPECT_THAT(message<ShapeError>([&] {
                m.load_state({{"head.weight", zeros({4, 5})}}, false);
              }),
              HasSubstr("table.weight: is [4, 5] f32, need [5, 4] f32"));
}

TEST(Module, ThreeNamesOfOneTensorMustAgree) {
  struct Three : Module {
    Tensor a = zeros({2}).requires_grad_(), b = a, c = a;
    void visit(Visitor& v) override {
      v("a", a);
      v("b", b);
      v("c", c);
    }
  };
  Three m;
  m.load_state({{"c", full({2}, 1)}, {"b", full({2}, 1)}});
  EXPECT_EQ(m.a.at({0}), 1);
  EXPECT_THAT(message<ShapeError>([&] {
                m.load_state({{"c", full({2}, 1)}, {"b", full({2}, 2)}});
              }),
              HasSubstr("c: is tied to b, and their elements differ"));
  EXPECT_THAT(message<ShapeError>([&] {
                m.load_state({{"b", full({2}, 1)}, {"b", full({2}, 2)}});
              }),
              HasSubstr("b: is given twice"));
  EXPECT_THAT(message<ShapeError>([&] { m.load_state(NamedTensors{}); }), HasSubstr("missing: a;"));
}

TEST(Module, TiedTensorsAreComparedByBits) {
  Model m;
  NamedTensors state = snapshot(m.state());
  state[0].second.fill_(std::nanf(""));
  state.emplace_back("head.weight", clone(state[0].second));
  EXPECT_TRUE(m.check_state(state).ok()) << m.check_state(state).str();
  state[0].second.fill_(0.0);
  state.back().second.fill_(-0.0);
  EXPECT_FALSE(m.check_state(state).ok());
}

TEST(Module, RefusesTwoMembersOfOneName) {
  struct Twice : Module {
    Linear a{2, 2}, b{2, 2};
    void visit(Visitor& v) override {
      v("a", a);
      v("a", b);
    }
  };
  EXPECT_THAT(message<ValueError>([] { (void)Twice().parameters(); }), HasSubstr("`a.weight`"));
}

TEST(Module, ConvertsAndKeepsTies) {
  Model m;
  m.hidden[1].requires_grad_(false);
  m.to(f64);
  EXPECT_EQ(m.running.dtype(), f64);
  EXPECT_EQ(m.table.weight.dtype(), f64);
  EXPECT_TRUE(m.table.weight.same_as(m.head.weight));
  EXPECT_TRUE(m.table.weight.requires_grad());
  EXPECT_FALSE(m.hidden[1].weight.requires_grad());
  EXPECT_EQ(m.parameters().size(), 6u);
  EXPECT_THROW(m.to(i64), DTypeError);
}

TEST(Module, ACopySharesWeightsAndHasAModeOfItsOwn) {
  Sequential a(Linear(3, 3), Dropout(0.5), ReLU());
  Sequential b = a;
  b.eval();
  EXPECT_TRUE(a.at<Dropout>(1).training);
  EXPECT_FALSE(b.at<Dropout>(1).training);
  EXPECT_TRUE(a.at<Linear>(0).weight.same_as(b.at<Linear>(0).weight));
}

TEST(Sequential, AppliesLayersAndLambdasInOrder) {
  Sequential net(Linear(2, 3), [](const Tensor& x) { return x * 2; });
  net.add(ReLU()).add(Linear({.in = 3, .out = 1, .bias = false}));
  EXPECT_THAT(names(net.named_parameters()), ElementsAre("0.weight", "0.bias", "3.weight"));
  const Tensor x = randn({4, 2});
  const Tensor y = net(x);
  const auto& first = net.at<Linear>(0);
  const Tensor want =
      matmul(relu(linear(x, first.weight, first.bias) * 2), net.at<Linear>(3).weight.t());
  EXPECT_EQ(y.shape(), Shape({4, 1}));
  EXPECT_TRUE(allclose(y, want));
  EXPECT_THROW(net.at<ReLU>(0), ValueError);
  EXPECT_THROW(net.at<ReLU>(4), IndexError);
  EXPECT_THAT(names(Sequential().named_parameters()), IsEmpty());
}

}  // namespace
