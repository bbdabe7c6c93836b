// What TraceShapes prints.
#include "fovea/core/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <string>

#include "fovea/core/engine.h"
#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

template <class F>
std::string traced(const F& f, TraceShapes::Options o = {}) {
  std::ostringstream out;
  o.out = &out;
  const TraceShapes scope(o);
  f();
  return out.str();
}

TEST(TraceShapes, TellsWhatWasRepeatedAndWhy) {
  EXPECT_EQ(traced([] {
              (void)(zeros({2, 3}) + zeros({3}));
            }),
            "add              a [2, 3], b [3] -> [2, 3]   b has no axis -2: repeated 2 times\n");
  EXPECT_EQ(traced([] {
              (void)(zeros({4, 1}) - zeros({1, 5}));
            }),
            "sub              a [4, 1], b [1, 5] -> [4, 5]   a has size 1 on axis -1: repeated 5 "
            "times; b has size 1 on axis -2: repeated 4 times\n");
  EXPECT_EQ(traced([] {
              (void)(zeros({4, 2}) * 3);
            }),
            "mul              a [4, 2], b [] -> [4, 2]   b is a single number\n");
  EXPECT_EQ(traced([] {
              (void)(zeros({4, 2}) * zeros({4, 2}));
            }),
            "mul              a [4, 2], b [4, 2] -> [4, 2]\n");
}

TEST(TraceShapes, CountsTheAxesOfMatricesFromTheirOwnEnd) {
  EXPECT_EQ(traced([] {
              (void)matmul(zeros({5, 1, 2, 3}), zeros({7, 3, 4}));
            }),
            "matmul           a [5, 1, 2, 3], b [7, 3, 4] -> [5, 7, 2, 4]   a has size 1 on axis "
            "-3: repeated 7 times; b has no axis -4: repeated 5 times\n");
}

TEST(TraceShapes, NamesInputsThatCarryNoGradient) {
  EXPECT_EQ(traced([] {
              (void)where(zeros({3, 1}, boolean), zeros({3, 2}), zeros({2}));
            }),
            "where            a [3, 2], b [2], condition [3, 1] -> [3, 2]   b has no axis -2: "
            "repeated 3 times; condition has size 1 on axis -1: repeated 2 times\n");
  EXPECT_THAT(traced([] {
                (void)gather(zeros({3, 2}), 0, zeros({1, 2}, i64));
              }),
              HasSubstr("x [3, 2], index [1, 2] -> [1, 2]"));
}

TEST(TraceShapes, UsesTheNamesItWasGiven) {
  std::ostringstream out;
  TraceShapes scope({.out = &out, .sizes = {{"B", 6}, {"D", 4}}});
  const Tensor x = zeros({6, 4});
  (void)matmul(scope.name("features", x), zeros({4, 3}));
  EXPECT_EQ(out.str(), "matmul           features [B=6, D=4], b [D=4, 3] -> [B=6, 3]\n");
}

TEST(TraceShapes, ShowsTheBackwardPassWhenAsked) {
  const auto f = [] {
    const Tensor x = zeros({2, 3}).requires_grad_();
    sum(square(x)).backward();
  };
  EXPECT_THAT(traced(f), ::testing::Not(HasSubstr("backward")));
  EXPECT_THAT(traced(f, {.backward = true}), HasSubstr("backward: mul"));
}

TEST(TraceShapes, EndsWithItsScopeAndNests) {
  std::ostringstream outer, inner;
  {
    const TraceShapes a({.out = &outer});
    (void)exp(zeros({1}));
    {
      const TraceShapes b({.out = &inner});
      (void)log(zeros({1}));
    }
    (void)sin(zeros({1}));
  }
  (void)cos(zeros({1}));
  EXPECT_EQ(outer.str(), "exp              x [1] -> [1]\nsin              x [1] -> [1]\n");
  EXPECT_EQ(inner.str(), "log              x [1] -> [1]\n");
}

// A refused broadcast leaves nothing behind for the next line.
TEST(TraceShapes, ForgetsWhatFailed) {
  EXPECT_EQ(
      traced([] {
        EXPECT_THROW((void)where(zeros({2}, boolean), zeros({3, 1}), zeros({3})), std::exception);
        (void)matmul(zeros({2, 3}), zeros({3, 4}));
      }),
      "matmul           a [2, 3], b [3, 4] -> [2, 4]\n");
}

// Every operation on tensors shows: a line with its own name, or those of its parts, which between
// them hold the shapes of all that goes in and comes out. Those that only make or copy elements
// have nothing to show.
TEST(TraceShapes, EveryOperationPrintsALine) {
  const std::set<std::string> silent{"all",          "any",         "allclose",   "equal",
                                     "contiguous",   "to",          "zeros_like", "ones_like",
                                     "full_like",    "empty_like",  "rand_like",  "randn_like",
                                     "dropout.eval", "dropout.none"};
  // Only their length counts; these matrices are skipped by the layer.
  const std::set<std::string> unread{"LocationScore", "SelfAttention.not_projected"};
  std::set<std::string> names, named;
  for (const cases::OpCase& row : cases::table()) {
    if (row.inputs.empty() || silent.count(row.name) || silent.count(row.id())) continue;
    const Tensors inputs = cases::make_inputs(row.inputs, f32, 1);
    Tensor y;
    std::istringstream text(traced([&] { y = row.f(inputs); }));
    std::string line, in, out;
    while (std::getline(text, line)) {
      EXPECT_THAT(line, MatchesRegex(R"([a-z0-9_]+ +[a-z_]+ \[.*\] -> \[[0-9, ]*\](   .*)?)"));
      const size_t arrow = line.find(" -> ");
      in += line.substr(0, arrow), out += line.substr(std::min(arrow, line.size()));
      if (line.rfind(row.name + " ", 0) == 0) named.insert(row.name);
    }
    for (const Tensor& x : inputs) {
      if (unread.count(row.id())) break;
      if (row.name == "index_select" && x.dtype() == i64) continue;  // shows as gather's, repeated
      EXPECT_THAT(in, HasSubstr(x.shape().str())) << row.id();
    }
    EXPECT_THAT(out, HasSubstr(" -> " + y.shape().str())) << row.id();
    if (!std::isupper(static_cast<unsigned char>(row.name[0]))) names.insert(row.name);
  }
  const std::set<std::string> composed{"affine_grid",
                                       "attention_weights",
                                       "avg_pool2d",
                                       "binary_cross_entropy",
                                       "binary_cross_entropy_with_logits",
                                       "bmm",
                                       "broadcast_to",
                                       "chunk",
                                       "conv1d",
                                       "conv2d",
                                       "conv_transpose2d",
                                       "diag",
                                       "einsum",
                                       "entmax15_attention",
                                       "flatten",
                                       "grid_sample",
                                       "gumbel_softmax",
                                       "hardtanh",
                                       "huber_loss",
                                       "index_put_add",
                                       "index_select",
                                       "interpolate",
                                       "isfinite",
                                       "isinf",
                                       "isnan",
                                       "kl_div",
                                       "l1_loss",
                                       "leaky_relu",
                                       "lerp",
                                       "linear_attention",
                                       "masked_fill",
                                       "masked_select",
                                       "masked_softmax",
                                       "max_pool2d",
                                       "meshgrid",
                                       "mse_loss",
                                       "narrow",
                                       "nll_loss",
                                       "norm",
                                       "outer",
                                       "pad",
                                       "performer_attention",
                                       "repeat_interleave",
                                       "roll",
                                       "scatter",
                                       "select",
                                       "soft_attention_nystrom",
                                       "sparsemax_attention",
                                       "split",
                                       "std",
                                       "tril",
                                       "triu",
                                       "unbind",
                                       "unfold",
                                       "var"};
  for (const std::string& n : names) {
    EXPECT_EQ(named.count(n), 1 - composed.count(n)) << n << " as a line of its own";
  }
}

}  // namespace
}  // namespace fovea
