// Printouts, as PyTorch writes them.
#include "fovea/core/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "fovea/core/engine.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

TEST(Print, Scalars) {
  EXPECT_EQ(tensor(2.0).str(), "tensor(2.)");
  EXPECT_EQ(tensor(2.5).str(), "tensor(2.5000)");
  EXPECT_EQ(tensor(3).str(), "tensor(3)");
  EXPECT_EQ(tensor(true).str(), "tensor(true)");
  EXPECT_EQ(tensor(-0.5, f64).str(), "tensor(-0.5000, dtype=f64)");
}

TEST(Print, ListsAlignTheirColumns) {
  EXPECT_EQ(tensor({1.0, 2.0}).str(), "tensor([1., 2.])");
  EXPECT_EQ(tensor({1.5, -22.25}).str(), "tensor([  1.5000, -22.2500])");
  EXPECT_EQ(tensor({1, -20, 3}).str(), "tensor([  1, -20,   3])");
  EXPECT_EQ(tensor({true, false}).str(), "tensor([ true, false])");
  EXPECT_EQ(tensor({{1.0, 2.0}, {3.0, 4.0}}).str(), "tensor([[1., 2.],\n        [3., 4.]])");
}

TEST(Print, BlocksOfARankThreeTensorAreApart) {
  EXPECT_EQ(arange(8).reshape({2, 2, 2}).str(),
            "tensor([[[0, 1],\n         [2, 3]],\n\n        [[4, 5],\n         [6, 7]]])");
}

TEST(Print, NumbersThatAreFarApartGoScientific) {
  EXPECT_EQ(tensor({1e-5, 1.0}).str(), "tensor([1.0000e-05, 1.0000e+00])");
  EXPECT_EQ(tensor({1e9}).str(), "tensor([1.0000e+09])");
  EXPECT_EQ(tensor({0.0, 0.0}).str(), "tensor([0., 0.])");
}

TEST(Print, WhatIsNoNumber) {
  const std::string s = tensor({1.0, NAN, INFINITY, -INFINITY}).str();
  EXPECT_NE(s.find("nan"), std::string::npos) << s;
  EXPECT_NE(s.find("-inf"), std::string::npos) << s;
  EXPECT_NE(s.find("1."), std::string::npos) << s;
}

TEST(Print, EmptyAndUndefined) {
  EXPECT_EQ(zeros({0}).str(), "tensor([])");
  EXPECT_NE(zeros({0, 3}).str().find("size=[0, 3]"), std::string::npos);
  EXPECT_EQ(to_string(Tensor()), "tensor(undefined)");
}

TEST(Print, SaysWhereItStandsInTheGraph) {
  const Tensor x = tensor({1.0}).requires_grad_();
  EXPECT_EQ(x.str(), "tensor([1.], requires_grad=true)");
  EXPECT_EQ((x * 2).str(), "tensor([2.], grad_fn=<mul>)");
  EXPECT_EQ((x * 2).detach().str(), "tensor([2.])");
}

TEST(Print, LargeTensorsAreSummarised) {
  EXPECT_EQ(arange(2000).str(), "tensor([   0,    1,    2, ..., 1997, 1998, 1999])");
  const std::string s = zeros({100, 100}).str();
  EXPECT_NE(s.find("..."), std::string::npos);
  EXPECT_LT(s.size(), 400u);
  EXPECT_EQ(zeros({1000}).str().find("..."), std::string::npos);
}

TEST(Print, LongRowsAreBroken) {
  const std::string s = arange(60).str();
  std::istringstream lines(s);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 80u);
  EXPECT_GT(count, 1);
  EXPECT_EQ(s.find("\n        "), s.find('\n')) << "indented behind the bracket";
}

TEST(Print, FollowsViews) {
  EXPECT_EQ(tensor({{1, 2}, {3, 4}}).t().str(), "tensor([[1, 3],\n        [2, 4]])");
  EXPECT_EQ(tensor({1, 2, 3, 4}).slice(0, 0, kEnd, 2).str(), "tensor([1, 3])");
}

TEST(Print, OptionsAndStreams) {
  EXPECT_EQ(to_string(tensor({1.23456}), {.precision = 2}), "tensor([1.23])");
  std::ostringstream out;
  out << tensor({1.0});
  EXPECT_EQ(out.str(), "tensor([1.])");
}

}  // namespace
}  // namespace fovea
