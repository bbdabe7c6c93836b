// Attention at a source that was made ready: the same as without.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/nn/attention/local.h"
#include "fovea/ops/ops.h"
#include "tests/nn/measures.h"
#include "tests/op_cases/refused.h"

namespace fovea {
namespace {

using testing::worst;

constexpr const char* kSourceKinds[] = {"dot",    "scaled_dot", "cosine",  "general", "additive",
                                        "concat", "location",   "local-m", "local-p"};

std::unique_ptr<SourceAttention> attention_named(const char* kind) {
  manual_seed(3);
  return make_source_attention(
      kind, {.score = {.query_dim = 4, .key_dim = 4, .hidden = 5, .max_length = 6, .dtype = f64},
             .window = 2});
}

// What the layer itself says, of keys that were not made ready.
SoftAttended unprepared(const SourceAttention& a, const Tensor& q, const Tensor& keys,
                        const Tensor& values, const Tensor& words, int64_t first_step) {
  if (const auto* local = dynamic_cast<const LocalAttention*>(&a)) {
    return (*local)(q, keys, values, words, first_step);
  }
  return dynamic_cast<const ScoredAttention&>(a)(q, keys, values, words);
}

struct Sentences {
  Tensor q = randn({2, 3, 4}, f64).requires_grad_();
  Tensor keys = randn({2, 6, 4}, f64).requires_grad_();
  Tensor values = randn({2, 6, 5}, f64).requires_grad_();
  Tensor words =
      tensor({{true, true, true, true, true, true}, {true, true, true, true, false, false}});
};

TEST(SourceAttention, LooksAsTheLayerDoes) {
  for (const char* kind : kSourceKinds) {
    const auto a = attention_named(kind);
    const Sentences s;
    Tensors inputs = a->parameters();
    for (const Tensor& x : {s.q, s.keys, s.values}) inputs.push_back(x);
    for (const bool padded : {false, true}) {
      const Tensor words = padded ? s.words : Tensor();
      for (const int64_t first_step : {0, 2}) {
        SCOPED_TRACE(fmt::format("{}, padded {}, step {}", kind, padded, first_step));
        const SoftAttended want = unprepared(*a, s.q, s.keys, s.values, words, first_step);
        const AttentionSource source = a->prepare(s.keys, s.values, words);
        const SoftAttended found = a->attend(s.q, source, first_step);
        EXPECT_LE(worst(found.context, want.context), 1e-14);
        EXPECT_LE(worst(found.weights, want.weights), 1e-14);
        for (int64_t t = 0; t < 3; ++t) {  // a query at a time
          const SoftAttended one = a->attend(s.q.narrow(1, t, 1), source, first_step + t);
          EXPECT_LE(worst(one.context, want.context.narrow(1, t, 1)), 1e-14) << t;
          EXPECT_LE(worst(one.weights, want.weights.narrow(1, t, 1)), 1e-14) << t;
        }
        const auto gradients = [&](const SoftAttended& y) {
          return grad(sum(square(y.context)) + sum(y.weights * y.weights * 3), inputs,
                      {.allow_unused = true});
        };
        const Tensors g = gradients(found), expected = gradients(want);
        for (size_t i = 0; i < g.size(); ++i) {
          ASSERT_EQ(g[i].defined(), expected[i].defined()) << i;
          if (g[i].defined()) {
            EXPECT_LE(worst(g[i], expected[i]), 1e-13) << "gradient " << i;
          }
        }
      }
    }
  }
}

TEST(SourceAttention, PaddingIsNotSeenNaNOrNot) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (const char* kind : kSourceKinds) {
    const auto a = attention_named(kind);
    const Sentences s;
    const Tensor hole = unsqueeze(s.words, 2);
    const Tensor bad_keys = where(hole, s.keys.detach(), full({}, none, f64)).requires_grad_();
    const Tensor bad_values = where(hole, s.values.detach(), full({}, none, f64)).requires_grad_();
    const SoftAttended want = a->attend(s.q, a->prepare(s.keys, s.values, s.words));
    const SoftAttended found = a->attend(s.q, a->prepare(bad_keys, bad_values, s.words));
    EXPECT_LE(worst(found.context, want.context), 1e-14) << kind;
    EXPECT_LE(worst(found.weights, want.weights), 1e-14) << kind;
    EXPECT_EQ(max(abs(found.weights.narrow(0, 1, 1).narrow(2, 4, 2))).item(), 0) << kind;
    Tensors inputs = a->parameters();
    for (const Tensor& x : {s.q, bad_keys, bad_values}) inputs.push_back(x);
    const Tensors g = grad(sum(square(found.context)), inputs, {.allow_unused = true});
    for (size_t i = 0; i < g.size(); ++i) {
      if (!g[i].defined()) continue;
      EXPECT_TRUE(all(isfinite(g[i]))) << kind << ", gradient " << i;
    }
    const Tensor& of_values = g.back();
    EXPECT_EQ(max(abs(of_values.narrow(0, 1, 1).narrow(1, 4, 2))).item(), 0) << kind;
  }
}

// Words outside the window of a query, numbers or not: as the layer itself has it.
TEST(SourceAttention, WhatIsOutsideAWindowIsNotSeen) {
  for (const char* kind : {"local-m", "local-p"}) {
    const auto a = attention_named(kind);
    auto& local = dynamic_cast<LocalAttention&>(*a);
    if (local.v) {  // a place before the second word, the window is 2
      const NoGrad scope;
      local.w->weight.fill_(1);
      local.v->weight.fill_(-0.5);
    }
    const Tensor q = (rand({2, 1, 4}, f64) + 0.5).requires_grad_();
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), -1 / 0.0}) {
      SCOPED_TRACE(fmt::format("{} {}", kind, bad));
      const auto spoilt = [bad](const Tensor& x) {
        const Tensor y = clone(x.detach());
        y.narrow(1, 5, 1).fill_(bad);
        return y.requires_grad_();
      };
      const Sentences s;
      const Tensor keys = spoilt(s.keys), values = spoilt(s.values);
      const AttentionSource source = a->prepare(keys, values);
      const SoftAttended want = local(q, keys, values), found = a->attend(q, source);
      EXPECT_TRUE(all(isfinite(found.context)));
      EXPECT_LE(worst(found.context, want.context), 1e-14);
      EXPECT_LE(worst(found.weights, want.weights), 1e-14);
      Tensors inputs = a->parameters();
      for (const Tensor& x : {q, keys, values}) inputs.push_back(x);
      const auto gradients = [&](const SoftAttended& y) {
        return grad(sum(square(y.context)) + sum(square(y.weights)), inputs);
      };
      const Tensors g = gradients(found), expected = gradients(want);
      for (size_t i = 0; i < g.size(); ++i) {
        EXPECT_TRUE(all(isfinite(g[i]))) << "gradient " << i;
        EXPECT_LE(worst(g[i], expected[i]), 1e-13) << "gradient " << i;
      }
      if (local.v) continue;
      EXPECT_FALSE(any(isfinite(a->attend(q, source, 4).context))) << "inside it is seen";
    }
  }
}

// A decoder's memory is keys and values at once: one copy without its padding does for both.
TEST(SourceAttention, KeepsOneCopyOfWhatIsKeyAndValue) {
  const Sentences s;
  const auto plain = attention_named("dot"), projecting = attention_named("general");
  AttentionSource source = plain->prepare(s.keys, s.keys, s.words);
  EXPECT_TRUE(source.values.same_as(source.keys));
  source.select(tensor({1, 1, 0}));
  EXPECT_TRUE(source.values.same_as(source.keys));
  EXPECT_EQ(source.keys.size(0), 3);
  EXPECT_FALSE(plain->prepare(s.keys, s.values, s.words).values.same_as(source.keys));
  const AttentionSource apart = projecting->prepare(s.keys, s.keys, s.words);
  EXPECT_FALSE(apart.values.same_as(apart.keys));
  EXPECT_TRUE(equal(apart.values, plain->prepare(s.keys, s.keys, s.words).values));
}

TEST(SourceAttention, SelectsSentences) {
  const Tensor rows = tensor({1, 1, 0});
  for (const char* kind : kSourceKinds) {
    const auto a = attention_named(kind);
    const Sentences s;
    AttentionSource source = a->prepare(s.keys, s.values, s.words);
    const SoftAttended whole = a->attend(s.q, source);
    source.select(rows);
    const SoftAttended found = a->attend(index_select(s.q, 0, rows), source);
    EXPECT_LE(worst(found.context, index_select(whole.context, 0, rows)), 1e-14) << kind;
    EXPECT_LE(worst(found.weights, index_select(whole.weights, 0, rows)), 1e-14) << kind;
  }
}

TEST(SourceAttention, SaysWhatIsWrong) {
  using cases::ErrorKind;
  const auto a = attention_named("additive");
  const auto refuses = [&](ErrorKind kind, const char* says, const Tensor& keys,
                           const Tensor& values, const Tensor& words = {}) {
    EXPECT_EQ(cases::refused("SourceAttention", kind, {says},
                             [&] { (void)a->prepare(keys, values, words); }),
              "");
  };
  const Tensor x = zeros({2, 3, 4}, f64);
  refuses(ErrorKind::shape, "keys is [2, 4], values is [2, 3, 4]; need (B, Tk, Dk)",
          zeros({2, 4}, f64), x);
  refuses(ErrorKind::shape, "keys is [2, 3, 4], values is undefined", x, {});
  refuses(ErrorKind::shape, "values is [2, 5, 4]", x, zeros({2, 5, 4}, f64));
  refuses(ErrorKind::shape, "keep_mask is [3, 2]; need (B, Tk) = [2, 3]", x, x,
          ones({3, 2}, boolean));
  refuses(ErrorKind::dtype, "keep_mask is f32 [2, 3]", x, x, ones({2, 3}));
  EXPECT_THROW((void)a->attend(zeros({1, 1, 4}, f64), a->prepare(x, x)), ShapeError);
  EXPECT_THROW((void)make_source_attention("local", {}), ValueError);
}

}  // namespace
}  // namespace fovea
