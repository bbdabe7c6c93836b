// Writing with models: caches, sampling, and beam search.
#include "fovea/nn/transformer/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fovea/core/error.h"
#include "fovea/nn/transformer/gpt.h"
#include "fovea/nn/transformer/llama.h"
#include "fovea/ops/ops.h"
#include "tests/nn/measures.h"

namespace fovea {
namespace {

using testing::worst;

// A GPT whose answers differ from place to place.
GPT small_gpt(int64_t context = 24) {
  manual_seed(3);
  GPT m({.vocab = 11, .context = context, .d_model = 16, .heads = 4, .layers = 3});
  const NoGrad scope;
  for (const Tensor& p : m.parameters()) {
    if (p.dim() == 2) p.mul_(15);
  }
  m.eval();
  return m;
}

Llama small_llama() {
  manual_seed(4);
  Llama m({.vocab = 11, .context = 24, .d_model = 16, .heads = 4, .kv_heads = 2, .layers = 3});
  const NoGrad scope;
  for (const Tensor& p : m.parameters()) {
    if (p.dim() == 2) p.mul_(15);
  }
  return m;
}

// Logits of ids read in chunks of n.
Tensor in_chunks(const LanguageModel& m, const Tensor& ids, int64_t n) {
  const NoGrad scope;
  KvCache cache = m.cache();
  Tensors parts;
  for (int64_t t = 0; t < ids.size(1); t += n) {
    parts.push_back(m(ids.narrow(1, t, std::min(n, ids.size(1) - t)), &cache));
  }
  EXPECT_EQ(cache.length(), ids.size(1));
  return cat(parts, 1);
}

void expect_chunks_to_agree(const LanguageModel& m) {
  manual_seed(5);
  const Tensor ids = randint(0, 11, {2, 20});
  const Tensor whole = m(ids);
  EXPECT_GT(worst(whole.select(1, 3), whole.select(1, 4)), 0.1) << "a model that says one thing";
  for (const int64_t n : {1, 2, 3, 7, 20}) {
    EXPECT_LE(worst(in_chunks(m, ids, n), whole), 1e-5 * max(abs(whole)).item()) << n;
  }
}

TEST(KvCache, ChunksOfAPromptGiveTheLogitsOfTheWhole) {
  expect_chunks_to_agree(small_gpt());
  expect_chunks_to_agree(small_llama());
}

TEST(KvCache, KeepsWhatItWasGivenAsItGrows) {
  LayerCache cache;
  manual_seed(6);
  const Tensor k = randn({2, 3, 9, 4}), v = randn({2, 3, 9, 5});
  for (int64_t t = 0; t < 9; ++t) {
    const auto all = cache.append(k.narrow(2, t, 1), v.narrow(2, t, 1));
    EXPECT_TRUE(equal(all.k, k.narrow(2, 0, t + 1)));
    EXPECT_TRUE(equal(all.v, v.narrow(2, 0, t + 1)));
  }
  cache.select(tensor({1, 1, 0}));
  const auto all = cache.append(zeros({3, 3, 0, 4}), zeros({3, 3, 0, 5}));
  EXPECT_TRUE(equal(all.k, index_select(k, 0, tensor({1, 1, 0}))));
  cache.clear();
  EXPECT_EQ(cache.length(), 0);
}

TEST(KvCache, RefusesWhatDoesNotFit) {
  using ::testing::HasSubstr;
  LayerCache cache;
  const auto refused = [&](const Tensor& k, const Tensor& v) {
    try {
      cache.append(k, v);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  cache.append(zeros({2, 3, 1, 4}), zeros({2, 3, 1, 4}));
  EXPECT_THAT(refused(zeros({1, 3, 1, 4}), zeros({1, 3, 1, 4})), HasSubstr("1 tokens of [2, 3, "));
  EXPECT_THAT(refused(zeros({2, 3, 1, 4}), zeros({2, 3, 2, 4})), HasSubstr("v is [2, 3, 2, 4]"));
  EXPECT_THAT(refused(ones({2, 3, 1, 4}).requires_grad_() * 1, zeros({2, 3, 1, 4})),
              HasSubstr("inside NoGrad"));
  EXPECT_EQ(cache.length(), 1);
  const GPT m = small_gpt();
  EXPECT_THROW((void)m(zeros({1, 25}, i64)), ValueError);
  EXPECT_THROW((void)m(zeros({1, 3})), DTypeError);
  KvCache other(2);
  const NoGrad scope;
  EXPECT_THROW((void)m(zeros({1, 3}, i64), &other), ValueError);
}

// ------------------------------------------------------------------ sampling

std::map<int64_t, int> drawn(const Tensor& logits, const SampleOptions& o, int n = 2000) {
  Generator g(9);
  std::map<int64_t, int> count;
  for (int64_t id : sample_token(expand(logits, {n, logits.size(0)}), o, &g).to_vector<int64_t>()) {
    ++count[id];
  }
  return count;
}

TEST(SampleToken, KeepsToTheOptions) {
  const Tensor logits = log(tensor({0.1, 0.4, 0.2, 0.3}));
  const auto all = drawn(logits, {});
  ASSERT_EQ(all.size(), 4u);
  EXPECT_NEAR(all.at(1) / 2000.0, 0.4, 0.05);
  EXPECT_NEAR(all.at(0) / 2000.0, 0.1, 0.03);
  const auto two = drawn(logits, {.top_k = 2});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_NEAR(two.at(1) / 2000.0, 4. / 7, 0.05);
  EXPECT_NEAR(two.at(3) / 2000.0, 3. / 7, 0.05);
  // 0.4 + 0.3 reaches 0.65, and 0.4 alone 0.4.
  EXPECT_EQ(drawn(logits, {.top_p = 0.65}).size(), 2u);
  EXPECT_EQ(drawn(logits, {.top_p = 0.75}).size(), 3u);
  EXPECT_EQ(drawn(logits, {.top_p = 0.3}).size(), 1u);
  // Exactly reached: the next is left out.
  EXPECT_EQ(drawn(zeros({4}), {.top_p = 0.5}).size(), 2u);
  const auto cold = drawn(logits, {.temperature = 0.5});  // squares: 1 16 4 9 of 30
  EXPECT_NEAR(cold.at(1) / 2000.0, 16. / 30, 0.05);
  EXPECT_EQ(drawn(logits, {.temperature = 0}), (std::map<int64_t, int>{{1, 2000}}));
  EXPECT_EQ(drawn(logits * 1e30, {.temperature = 1e-30}), (std::map<int64_t, int>{{1, 2000}}));
}

TEST(SampleToken, RefusesOptionsWithoutMeaning) {
  const Tensor logits = zeros({3});
  for (const SampleOptions& o :
       {SampleOptions{.temperature = -1}, SampleOptions{.top_k = -1}, SampleOptions{.top_p = 0},
        SampleOptions{.top_p = 1.1}, SampleOptions{.temperature = std::nan("")}}) {
    EXPECT_THROW((void)sample_token(logits, o), ValueError);
  }
  EXPECT_THROW((void)sample_token(full({3}, std::nan("")), {}), ValueError);
}

// The likeliest token each time, by passes over all that is there.
std::vector<int64_t> greedy_by_hand(const LanguageModel& m, std::vector<int64_t> ids, int64_t n) {
  const NoGrad scope;
  for (int64_t i = 0; i < n; ++i) {
    const auto size = static_cast<int64_t>(ids.size()),
               from = std::max<int64_t>(0, size - m.context());
    const std::vector<int64_t> seen(ids.begin() + from, ids.end());
    const Tensor logits = m(from_vector(seen, {1, static_cast<int64_t>(seen.size())}));
    ids.push_back(argmax(logits.select(1, -1)).item<int64_t>());
  }
  return ids;
}

TEST(Generate, GreedyEqualsFullPassesAlsoBeyondTheContext) {
  const GPT gpt = small_gpt(12);
  const Tensor prompt = tensor({{1, 5, 2}});
  const GenerateOptions o{.max_tokens = 20, .sample = {.temperature = 0}};
  EXPECT_EQ(generate(gpt, prompt, o).to_vector<int64_t>(), greedy_by_hand(gpt, {1, 5, 2}, 20));
  const Llama llama = small_llama();
  EXPECT_EQ(generate(llama, prompt, o).to_vector<int64_t>(), greedy_by_hand(llama, {1, 5, 2}, 20));
}

TEST(Generate, SameSeedSameTextAndEndsAtTheStop) {
  const GPT m = small_gpt();
  const Tensor prompt = tensor({{1, 5}, {2, 2}, {7, 0}});
  Generator a(1), b(1), c(2);
  const Tensor x = generate(m, prompt, {.max_tokens = 15, .generator = &a});
  EXPECT_TRUE(equal(x, generate(m, prompt, {.max_tokens = 15, .generator = &b})));
  EXPECT_FALSE(equal(x, generate(m, prompt, {.max_tokens = 15, .generator = &c})));
  EXPECT_EQ(x.shape(), Shape({3, 17}));
  // A text that ends is filled up, and what others write stays what it was.
  const int64_t stop = x.at({0, 4}) + 0.5;
  Generator d(1);
  const Tensor y = generate(m, prompt, {.max_tokens = 15, .stop = stop, .generator = &d});
  for (int64_t i = 0; i < 3; ++i) {
    bool ended = false;
    for (int64_t t = 2; t < y.size(1); ++t) {
      EXPECT_EQ(y.at({i, t}), ended ? static_cast<double>(stop) : x.at({i, t}));
      ended = ended || y.at({i, t}) == static_cast<double>(stop);
    }
  }
  EXPECT_TRUE(equal(generate(m, prompt, {.max_tokens = 0}), prompt));
  EXPECT_THROW((void)generate(m, zeros({2, 0}, i64)), ShapeError);
  EXPECT_THROW((void)generate(m, zeros({2, 1})), DTypeError);
}

// ------------------------------------------------------------------ beam search

double log_probability(const LanguageModel& m, const std::vector<int64_t>& prompt,
                       const std::vector<int64_t>& written) {
  const NoGrad scope;
  std::vector<int64_t> all = prompt;
  all.insert(all.end(), written.begin(), written.end());
  const Tensor logp =
      log_softmax(to(m(from_vector(all, {1, static_cast<int64_t>(all.size())})), f64), -1);
  double sum = 0;
  for (size_t i = 0; i < written.size(); ++i) {
    sum += logp.at({0, static_cast<int64_t>(prompt.size() + i) - 1, written[i]});
  }
  return sum;
}

TEST(BeamSearch, OneBeamIsGreedy) {
  const GPT m = small_gpt();
  for (int64_t first = 0; first < 11; ++first) {
    const Tensor prompt = tensor({{1, 5}}) * 0 + first;
    for (const std::optional<int64_t> stop :
         {std::optional<int64_t>{}, std::optional<int64_t>{4}}) {
      const auto found = beam_search(m, prompt, {.beams = 1, .max_tokens = 9, .stop = stop});
      ASSERT_EQ(found.size(), 1u);
      ASSERT_EQ(found[0].size(), 1u);
      auto text = generate(m, prompt, {.max_tokens = 9, .stop = stop, .sample = {.temperature = 0}})
                      .to_vector<int64_t>();
      text.erase(text.begin(), text.begin() + 2);
      EXPECT_EQ(found[0][0].ids, text);
    }
  }
}

TEST(BeamSearch, ScoresAreLogProbabilities) {
  const GPT m = small_gpt();
  const Tensor prompts = tensor({{1, 5}, {3, 3}});
  const auto found =
      beam_search(m, prompts, {.beams = 4, .max_tokens = 6, .stop = 4, .length_penalty = 0.7});
  ASSERT_EQ(found.size(), 2u);
  for (size_t n = 0; n < 2; ++n) {
    ASSERT_EQ(found[n].size(), 4u);
    const std::vector<int64_t> prompt =
        n == 0 ? std::vector<int64_t>{1, 5} : std::vector<int64_t>{3, 3};
    for (size_t i = 0; i < 4; ++i) {
      const Hypothesis& h = found[n][i];
      EXPECT_NEAR(h.log_probability, log_probability(m, prompt, h.ids), 1e-4);
      EXPECT_NEAR(h.score,
                  h.log_probability / std::pow((5. + static_cast<double>(h.ids.size())) / 6, 0.7),
                  1e-9);
      EXPECT_LE(h.score, found[n][i == 0 ? 0 : i - 1].score);
      EXPECT_TRUE(h.ids.back() == 4 || h.ids.size() == 6);
    }
    // Prompts do not disturb one another.
    const auto alone = beam_search(m, prompts.narrow(0, static_cast<int64_t>(n), 1),
                                   {.beams = 4, .max_tokens = 6, .stop = 4, .length_penalty = 0.7});
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(alone[0][i].ids, found[n][i].ids);
  }
}

// With as many beams as there are texts, the likeliest of all is found.
TEST(BeamSearch, WideEnoughItIsExhaustive) {
  manual_seed(8);
  GPT m({.vocab = 3, .context = 8, .d_model = 8, .heads = 2, .layers = 1});
  const NoGrad scope;
  for (const Tensor& p : m.parameters()) {
    if (p.dim() == 2) p.mul_(30);
  }
  double best = -INFINITY;
  std::vector<int64_t> best_ids;
  for (int64_t a = 0; a < 3; ++a) {
    for (int64_t b = 0; b < 3; ++b) {
      for (int64_t c = 0; c < 3; ++c) {
        const double p = log_probability(m, {1}, {a, b, c});
        if (p > best) best = p, best_ids = {a, b, c};
      }
    }
  }
  const auto found = beam_search(m, tensor({{1}}), {.beams = 27, .max_tokens = 3});
  EXPECT_EQ(found[0].size(), 27u);
  EXPECT_EQ(found[0][0].ids, best_ids);
  EXPECT_NEAR(found[0][0].log_probability, best, 1e-5);
  EXPECT_THROW(beam_search(m, tensor({{1}}), {.beams = 0}), ValueError);
}

}  // namespace
}  // namespace fovea
