// Masks, padding and lengths of the layers that read values.
#include "fovea/nn/attention/soft_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/core/random.h"
#include "fovea/nn/attention/dot_product_attention.h"
#include "fovea/nn/attention/local.h"
#include "fovea/nn/attention/self_attention.h"
#include "fovea/ops/ops.h"
#include "tests/op_cases/refused.h"

namespace fovea {
namespace {

using cases::ErrorKind;
using cases::refused;

constexpr int64_t kWidth = 4;

// A layer as a function of queries (B, Tq, 4), keys and values (B, Tk, 4) and words (B, Tk).
struct Kind {
  std::string name;
  std::shared_ptr<Module> layer;
  std::function<Tensor(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& words)> f;
  bool one_query = false;
};

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  const auto add = [&](const std::string& name, auto layer, auto f, bool one_query = false) {
    all.push_back({name, layer,
                   [layer, f](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& m) {
                     return f(*layer, q, k, v, m);
                   },
                   one_query});
  };
  const ScoreOptions o{
      .query_dim = kWidth, .key_dim = kWidth, .hidden = 3, .max_length = 9, .dtype = f64};
  const auto soft = [](auto& l, const Tensor& q, const Tensor& k, const Tensor& v,
                       const Tensor& m) {  // a mask of one query, so that B = Tq is no question
    return l(q, k, v, m.defined() ? unsqueeze(m, 1) : m).context;
  };
  const auto local = [](LocalAttention& l, const Tensor& q, const Tensor& k, const Tensor& v,
                        const Tensor& m) { return l(q, k, v, m).context; };
  for (const char* s :
       {"dot", "scaled_dot", "cosine", "general", "additive", "concat", "location"}) {
    add(s, std::make_shared<ScoredAttention>(make_score(s, o)), soft);
    add(std::string("local-p ") + s,
        std::make_shared<LocalAttention>(
            make_score(s, o),
            LocalAttentionOptions{.window = 2, .query_dim = kWidth, .dtype = f64}),
        local);
  }
  add("local-m",
      std::make_shared<LocalAttention>(
          make_score("dot", o),
          LocalAttentionOptions{.centre = LocalCentre::monotonic, .window = 1}),
      local);
  add("dot product", std::make_shared<DotProductAttention>(0), soft);
  add("self",
      std::make_shared<SelfAttention>(
          SelfAttentionOptions{.embed_size = kWidth, .heads = 2, .dtype = f64}),
      [](SelfAttention& l, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& m) {
        return l(v, k, q, m.defined() ? unsqueeze(m, 1) : m);
      });
  add(
      "soft",
      std::make_shared<SoftAttention>(SoftAttentionOptions{
          .query_dim = kWidth, .key_dim = kWidth, .value_dim = kWidth, .dtype = f64}),
      [](SoftAttention& l, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& m) {
        return unsqueeze(l(select(q, 1, 0), k, v, m).context, 1);
      },
      true);
  return all;
}

Tensors all_gradients(const Kind& kind, const Tensor& y, const Tensor& upstream,
                      const Tensors& inputs) {
  Tensors wanted = kind.layer->parameters();
  wanted.insert(wanted.begin(), inputs.begin(), inputs.end());
  Tensors g = grad(y, wanted, {.allow_unused = true, .upstream = upstream});
  for (size_t i = 0; i < g.size(); ++i) {
    if (!g[i].defined()) g[i] = zeros_like(wanted[i]);
  }
  return g;
}

Tensor leaf(const Shape& shape) { return randn(shape, f64).requires_grad_(); }

// A sentence of 3 words alone, and padded to 5 with NaN beside a sentence of 5 words.
TEST(SoftAttentionLayers, PaddedSentencesEqualTheSentenceAlone) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const int64_t tq = kind.one_query ? 1 : 4;
    const Tensor q = leaf({1, tq, kWidth}), k = leaf({1, 3, kWidth}), v = leaf({1, 3, kWidth});
    const Tensor up = randn({1, tq, kWidth}, f64), nothing = full({1, 2, kWidth}, NAN, f64);
    const Tensor alone = kind.f(q, k, v, {});
    const Tensor words = tensor({{true, true, true, true, true}, {true, true, true, false, false}});
    const auto below = [](const Tensor& x) { return cat({randn({1, 5, kWidth}, f64), x}, 0); };
    const Tensor both = kind.f(cat({randn({1, tq, kWidth}, f64), q}, 0),
                               below(cat({k, nothing}, 1)), below(cat({v, nothing}, 1)), words);
    const Tensor padded = narrow(both, 0, 1, 1);
    EXPECT_TRUE(all(isfinite(both)));
    EXPECT_TRUE(allclose(padded, alone, 1e-12, 1e-14));
    const Tensors a = all_gradients(kind, alone, up, {q, k, v});
    const Tensors b = all_gradients(kind, padded, up, {q, k, v});
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_TRUE(allclose(b[i], a[i], 1e-12, 1e-14)) << "gradient " << i;
    }
  }
}

// A query that may see nothing reads 0 and teaches nothing. In SelfAttention fc_out stands behind.
TEST(SoftAttentionLayers, SeeingNothingGivesNothing) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const int64_t tq = kind.one_query ? 1 : 2;
    const Tensor q = leaf({2, tq, kWidth}), k = leaf({2, 3, kWidth}), v = leaf({2, 3, kWidth});
    const Tensor words = tensor({{true, true, false}, {false, false, false}});
    const Tensor y = kind.f(q, k, v, words);
    const auto* self = dynamic_cast<const SelfAttention*>(kind.layer.get());
    const Tensor none =
        self ? expand(self->fc_out.bias, {1, tq, kWidth}) : zeros({1, tq, kWidth}, f64);
    EXPECT_TRUE(equal(narrow(y, 0, 1, 1), none));
    const Tensor up = randn({2, tq, kWidth}, f64);
    const Tensors g = all_gradients(kind, y, up, {q, k, v});
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(equal(g[i][1], zeros_like(g[i][1]))) << i;
    const Tensor first =
        kind.f(narrow(q, 0, 0, 1), narrow(k, 0, 0, 1), narrow(v, 0, 0, 1), narrow(words, 0, 0, 1));
    const Tensors alone = all_gradients(kind, first, narrow(up, 0, 0, 1), {q});
    for (size_t i = 1; i < alone.size(); ++i) {
      if (self && i + 1 == alone.size()) continue;  // the bias of fc_out counts every query
      EXPECT_TRUE(allclose(g[i + 2], alone[i], 1e-12, 1e-14)) << "parameter " << i - 1;
    }
  }
}

TEST(SoftAttentionLayers, TakeOneTokenNoTokenAndZeros) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Tensor q = leaf({1, 1, kWidth}), one = leaf({1, 1, kWidth});
    EXPECT_TRUE(all(isfinite(kind.f(q, one, one, {}))));
    const Tensor k = zeros({1, 3, kWidth}, f64).requires_grad_(), v = leaf({1, 3, kWidth});
    const Tensor y = kind.f(q, k, v, {});
    for (const Tensor& g : all_gradients(kind, y, randn(y.shape(), f64), {q, k, v})) {
      EXPECT_TRUE(all(isfinite(g)));
    }
    const Tensor empty = zeros({1, 0, kWidth}, f64);
    EXPECT_EQ(kind.f(q, empty, empty, {}).shape(), Shape({1, 1, kWidth}));
  }
}

// Keys of zeros score alike: the context is the plain mean.
TEST(ScoredAttention, IsTheMeanWhereScoresAreEqual) {
  const ScoredAttention attention(make_score("scaled_dot", {}));
  const auto [context, weights] = attention(randn({1, 2, 3}, f64), zeros({1, 4, 3}, f64),
                                            reshape(to(arange(4), f64), {1, 4, 1}));
  EXPECT_TRUE(allclose(context, full({1, 2, 1}, 1.5, f64), 1e-15, 0));
  EXPECT_TRUE(equal(weights, full({1, 2, 4}, 0.25, f64)));
}

TEST(SoftAttention, StartsAsTheTutorialsDo) {
  manual_seed(5);
  const SoftAttention l(200, 300, 7);
  EXPECT_EQ(l.named_parameters()[0].first, "attn.weight");
  EXPECT_EQ(l.attn.weight.shape(), Shape({300, 500}));
  EXPECT_GE(min(l.v).item(), 0);
  EXPECT_LT(max(l.v).item(), 1);
  EXPECT_NEAR(mean(l.v).item(), 0.5, 0.05);
}

TEST(SoftAttentionLayers, SayWhatIsWrong) {
  const auto says = [](ErrorKind kind, const char* name, const char* part, auto f) {
    EXPECT_EQ(refused(name, kind, {part}, [&] { (void)f(); }), "");
  };
  const Tensor x = zeros({2, 3, 4}), mask = ones({2, 4}, boolean);
  says(ErrorKind::value, "ScoredAttention", "score is null",
       [] { return ScoredAttention(nullptr); });
  const ScoredAttention scored(make_score("dot", {}));
  says(ErrorKind::shape, "ScoredAttention", "keys is undefined", [&] { return scored(x, {}, x); });
  says(ErrorKind::shape, "ScoredAttention", "keep_mask is [2, 4]",
       [&] { return scored(x, x, x, mask); });
  says(ErrorKind::dtype, "ScoredAttention", "keep_mask is f32", [&] {
    return scored(x, x, x, ones({3, 3}));
  });
  const DotProductAttention dot;
  says(ErrorKind::shape, "DotProductAttention", "values is [2, 2, 4]", [&] {
    return dot(x, x, zeros({2, 2, 4}));
  });
  EXPECT_THROW(DotProductAttention(1.5), ValueError);
  const SoftAttention soft(4, 4, 4);
  says(ErrorKind::shape, "SoftAttention", "query is [2, 3, 4]", [&] { return soft(x, x, x); });
  says(ErrorKind::shape, "SoftAttention", "keep_mask is [2, 4]", [&] {
    return soft(zeros({2, 4}), x, x, mask);
  });
  says(ErrorKind::value, "SoftAttention", "value_dim is 0", [] { return SoftAttention(4, 4, 0); });
}

}  // namespace
}  // namespace fovea
