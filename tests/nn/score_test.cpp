// The seven scores: what they have in common, and what sets each apart.
#include "fovea/nn/attention/score.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/core/random.h"
#include "fovea/nn/attention/additive_scores.h"
#include "fovea/nn/attention/location_score.h"
#include "fovea/nn/attention/product_scores.h"
#include "fovea/ops/ops.h"
#include "tests/op_cases/refused.h"

namespace fovea {
namespace {

using cases::ErrorKind;
using cases::refused;

const char* const kKinds[] = {"dot",      "scaled_dot", "cosine",  "general",
                              "additive", "concat",     "location"};

std::unique_ptr<Score> score_of(const char* kind) {
  return make_score(kind,
                    {.query_dim = 4, .key_dim = 4, .hidden = 3, .max_length = 6, .dtype = f64});
}

TEST(Score, HasThePapersValue) {
  const Tensor q = tensor({{{1.0, 2.0}}}, f64), keys = tensor({{{3.0, 4.0}, {-2.0, 1.0}}}, f64);
  const auto near = [](const Tensor& s, double a, double b) {
    return allclose(s, tensor({{{a, b}}}, f64), 0, 1e-14);
  };
  EXPECT_TRUE(near(DotScore()(q, keys), 11, 0));
  EXPECT_TRUE(near(ScaledDotScore()(q, keys), 11 / std::sqrt(2.0), 0));
  const CosineScore cosine({.beta = 3, .dtype = f64});
  EXPECT_TRUE(near(cosine(q, keys), 33 / (5 * std::sqrt(5.0)), 0));
  const GeneralScore general({.query_dim = 2, .key_dim = 2, .dtype = f64});
  general.w.weight.detach().copy_(tensor({{0, 1}, {2, 0}}));
  EXPECT_TRUE(near(general(q, keys), 16, -7));  // q' W = [4, 1]
  const AdditiveScore additive({.query_dim = 2, .key_dim = 2, .hidden = 1, .dtype = f64});
  additive.w_q.weight.detach().copy_(tensor({{0.5, 0.0}}, f64));
  additive.w_k.weight.detach().copy_(tensor({{0.0, 0.25}}, f64));
  additive.v.detach().copy_(tensor({2}));
  EXPECT_TRUE(near(additive(q, keys), 2 * std::tanh(1.5), 2 * std::tanh(0.75)));
  const LocationScore location({.query_dim = 2, .max_length = 3, .dtype = f64});
  location.w.weight.detach().copy_(tensor({{1, 0}, {0, 1}, {5, 5}}));
  EXPECT_TRUE(near(location(q, keys), 1, 2));
}

// Luong's concat and Bahdanau's score are one mapping: W = [W_q W_k], b = 0.
TEST(Score, ConcatIsAdditive) {
  const AdditiveScoreOptions o{.query_dim = 3, .key_dim = 2, .hidden = 5, .dtype = f64};
  const AdditiveScore split(o);
  const ConcatScore whole(o);
  whole.w.weight.detach().copy_(cat({split.w_q.weight, split.w_k.weight}, 1).detach());
  whole.w.bias.detach().fill_(0);
  whole.v.detach().copy_(split.v.detach());
  const Tensor q = randn({2, 3, 3}, f64).requires_grad_(),
               keys = randn({2, 4, 2}, f64).requires_grad_();
  const Tensor a = split(q, keys), b = whole(q, keys), up = randn({2, 3, 4}, f64);
  EXPECT_TRUE(allclose(a, b, 1e-13, 0));
  const Tensors ga =
      grad(a, {q, keys, split.w_q.weight, split.w_k.weight, split.v}, {.upstream = up});
  const Tensors gb = grad(b, {q, keys, whole.w.weight, whole.v}, {.upstream = up});
  EXPECT_TRUE(allclose(ga[0], gb[0], 1e-12, 1e-14));
  EXPECT_TRUE(allclose(ga[1], gb[1], 1e-12, 1e-14));
  EXPECT_TRUE(allclose(cat({ga[2], ga[3]}, 1), gb[2], 1e-12, 1e-14));
  EXPECT_TRUE(allclose(ga[4], gb[3], 1e-12, 1e-14));
}

// A decoder projects the keys once and asks step by step.
TEST(Score, ProjectsKeysOnce) {
  const Tensor q = randn({2, 3, 4}, f64), keys = randn({2, 5, 4}, f64);
  for (const char* kind : kKinds) {
    const auto score = score_of(kind);
    const Tensor whole = (*score)(q, keys), projected = score->project(keys);
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(allclose(score->with_projected(narrow(q, 1, i, 1), projected),
                           narrow(whole, 1, i, 1), 1e-12, 1e-14))
          << kind;
    }
  }
  const auto additive = score_of("additive");
  EXPECT_EQ(additive->project(keys).shape(), Shape({2, 5, 3}));
}

TEST(Score, TakesAnyLengths) {
  for (const char* kind : kKinds) {
    const auto score = score_of(kind);
    for (const auto& [tq, tk] :
         {std::pair<int64_t, int64_t>{1, 1}, {1, 6}, {7, 2}, {0, 3}, {3, 0}}) {
      const Tensor q = randn({2, tq, 4}, f64), keys = randn({2, tk, 4}, f64);
      EXPECT_EQ((*score)(q, keys).shape(), Shape({2, tq, tk})) << kind;
    }
    EXPECT_EQ((*score)(zeros({0, 2, 4}, f64), zeros({0, 3, 4}, f64)).shape(), Shape({0, 2, 3}));
  }
}

TEST(CosineScore, OfZerosIsZeroWithFiniteGradients) {
  const CosineScore score({.dtype = f64});
  const Tensor q = tensor({{{0, 0}, {3, 4}}}, f64).requires_grad_();
  const Tensor keys = tensor({{{0, 0}, {1, 0}}}, f64).requires_grad_();
  const Tensor s = score(q, keys);
  EXPECT_TRUE(allclose(s, tensor({{{0.0, 0.0}, {0.0, 0.6}}}, f64), 0, 1e-15));
  const Tensors g = grad(sum(s), {q, keys, score.beta}, {.create_graph = true});
  EXPECT_TRUE(equal(g[0][0][0], zeros({2}, f64)));
  EXPECT_TRUE(equal(g[1][0][0], zeros({2}, f64)));
  EXPECT_NEAR(g[2].item(), 0.6, 1e-15);
  const Tensors second = grad(sum(square(g[0])) + sum(square(g[1])), {q, keys}, {});
  for (const Tensor& x : second) EXPECT_TRUE(all(isfinite(x)));
}

TEST(CosineScore, KnowsNoLengths) {
  const CosineScore score({.beta = 7, .learned = false, .dtype = f64});
  EXPECT_EQ(score.parameters().size(), 0u);
  EXPECT_EQ(score.named_buffers().size(), 1u);
  const Tensor q = randn({1, 3, 4}, f64), keys = randn({1, 5, 4}, f64);
  EXPECT_TRUE(allclose(score(q * 1e-100, keys * 1e100), score(q, keys), 1e-12, 0));
  EXPECT_LE(max(abs(score(q, keys))).item(), 7);
}

// Keys count by their number alone, and rows of W beyond it take no gradient.
TEST(LocationScore, LooksAtTheQueryAlone) {
  const LocationScore score({.query_dim = 3, .max_length = 5, .dtype = f64});
  const Tensor q = randn({2, 3, 3}, f64);
  EXPECT_TRUE(equal(score(q, zeros({2, 4, 9}, f64)), score(q, full({2, 4, 2}, NAN, f64))));
  sum(score(q, zeros({2, 4, 1}, f64))).backward();
  EXPECT_TRUE(equal(score.w.weight.grad()[4], zeros({3}, f64)));
  EXPECT_NE(sum(abs(score.w.weight.grad())).item(), 0);
  EXPECT_EQ(refused("LocationScore", ErrorKind::shape, {"keys is [2, 6, 1]", "max_length is 5"},
                    [&] {
                      (void)score(q, zeros({2, 6, 1}, f64));
                    }),
            "");
}

TEST(Score, SaysWhatIsWrong) {
  const auto says = [](ErrorKind kind, const char* name, const char* part, auto f) {
    EXPECT_EQ(refused(name, kind, {part}, [&] { (void)f(); }), "");
  };
  const Tensor q = zeros({2, 3, 4}), keys = zeros({2, 5, 4});
  const DotScore dot;
  says(ErrorKind::shape, "DotScore", "projected is [2, 5, 3]", [&] {
    return dot.with_projected(q, zeros({2, 5, 3}));
  });
  says(ErrorKind::shape, "DotScore", "q is undefined", [&] { return dot({}, keys); });
  says(ErrorKind::shape, "DotScore", "keys is undefined", [&] { return dot(q, {}); });
  says(ErrorKind::dtype, "DotScore", "keys is i64 [2, 5, 4]", [&] {
    return dot(q, zeros({2, 5, 4}, i64));
  });
  const AdditiveScore additive({.query_dim = 4, .key_dim = 4, .hidden = 2});
  says(ErrorKind::shape, "AdditiveScore", "keys is [2, 5, 3]; need (B, Tk, 4)", [&] {
    return additive.project(zeros({2, 5, 3}));
  });
  says(ErrorKind::value, "AdditiveScore", "hidden is 0",
       [] { return AdditiveScore({.query_dim = 4, .key_dim = 4}); });
  says(ErrorKind::value, "ConcatScore", "key_dim is 0",
       [] { return ConcatScore({.query_dim = 4, .key_dim = 0, .hidden = 3}); });
  says(ErrorKind::value, "GeneralScore", "query_dim is -1",
       [] { return GeneralScore({.query_dim = -1, .key_dim = 2}); });
  says(ErrorKind::value, "LocationScore", "max_length is 0",
       [] { return LocationScore({.query_dim = 4}); });
  says(ErrorKind::value, "make_score", "kind is \"bilinear\"",
       [] { return make_score("bilinear", {}); });
  says(ErrorKind::value, "make_score", "query_dim is 3, key_dim is 4",
       [] { return make_score("dot", {.query_dim = 3, .key_dim = 4}); });
}

}  // namespace
}  // namespace fovea
