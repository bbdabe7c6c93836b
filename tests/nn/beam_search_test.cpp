// Which texts beam search keeps, by a model whose every answer is written down.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "fovea/nn/transformer/generate.h"
#include "fovea/nn/transformer/gpt.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

using Ids = std::vector<int64_t>;

// The probabilities of what follows a text.
class Scripted : public Decoding {
 public:
  explicit Scripted(std::function<std::vector<double>(const Ids&)> after)
      : after_(std::move(after)) {}
  int calls = 0;

  Tensor next(const Tensor& ids) override {
    ++calls;
    texts_.resize(static_cast<size_t>(ids.size(0)));
    Tensors rows;
    for (int64_t i = 0; i < ids.size(0); ++i) {
      Ids& text = texts_[static_cast<size_t>(i)];
      for (int64_t id : ids.select(0, i).to_vector<int64_t>()) text.push_back(id);
      const std::vector<double> p = after_(text);
      rows.push_back(log(from_vector(p, {static_cast<int64_t>(p.size())})));
    }
    return stack(rows, 0);
  }
  void select(const Tensor& rows) override {
    std::vector<Ids> kept;
    for (int64_t row : rows.to_vector<int64_t>())
      kept.push_back(texts_.at(static_cast<size_t>(row)));
    texts_ = std::move(kept);
  }

 private:
  std::function<std::vector<double>(const Ids&)> after_;
  std::vector<Ids> texts_;
};

constexpr int64_t kStop = 0;

// [1, stop] is the best of its step, [2, stop] the third, which is no place for two beams.
TEST(BeamSearch, AStopBehindTheBestIsNoEnd) {
  Scripted model([](const Ids& text) {
    if (text.size() == 1) return std::vector<double>{0, 0.6, 0.4};
    if (text.size() > 2) return std::vector<double>{0, 1, 0};
    return text.back() == 1 ? std::vector<double>{0.8, 0.1, 0.1}
                            : std::vector<double>{0.25, 0.75, 0};
  });
  const auto found =
      beam_search(model, tensor({{2}}), {.beams = 2, .max_tokens = 3, .stop = kStop});
  ASSERT_EQ(found[0].size(), 2u);
  EXPECT_EQ(found[0][0].ids, (Ids{1, kStop}));
  EXPECT_NEAR(found[0][0].log_probability, std::log(0.6 * 0.8), 1e-6);
  EXPECT_EQ(found[0][1].ids, (Ids{2, 1, 1}));
  EXPECT_NEAR(found[0][1].log_probability, std::log(0.4 * 0.75), 1e-6);
}

// The best beginning is not that of the best text.
TEST(BeamSearch, FindsWhatGreedyMisses) {
  Scripted model([](const Ids& text) {
    if (text.size() == 1) return std::vector<double>{0, 0.6, 0.4};
    return text.back() == 1 ? std::vector<double>{0, 0.5, 0.5} : std::vector<double>{0, 1, 0};
  });
  const auto found = beam_search(model, tensor({{2}}), {.beams = 2, .max_tokens = 2});
  EXPECT_EQ(found[0][0].ids, (Ids{2, 1}));
}

TEST(BeamSearch, ThePenaltyPrefersLongerTexts) {
  const Scripted model([](const Ids& text) {
    return text.size() == 1 ? std::vector<double>{0.5, 0.5} : std::vector<double>{0.9, 0.1};
  });
  const auto first = [&](double penalty) {
    Scripted fresh = model;
    return beam_search(
               fresh, tensor({{1}}),
               {.beams = 2, .max_tokens = 2, .stop = kStop, .length_penalty = penalty})[0][0]
        .ids;
  };
  EXPECT_EQ(first(0), (Ids{0}));
  EXPECT_EQ(first(2), (Ids{1, 0}));
}

// Beams change places, also when what they have read no longer fits.
TEST(BeamSearch, ScoresAreThoseOfTheWindowBeyondTheContext) {
  manual_seed(3);
  GPT m({.vocab = 7, .context = 5, .d_model = 16, .heads = 4, .layers = 2});
  const NoGrad scope;
  for (const Tensor& p : m.parameters()) {
    if (p.dim() == 2) p.mul_(15);
  }
  const auto found = beam_search(m, tensor({{1, 5}}), {.beams = 4, .max_tokens = 9});
  ASSERT_EQ(found[0].size(), 4u);
  for (const Hypothesis& h : found[0]) {
    Ids text{1, 5};
    double sum = 0;
    for (const int64_t id : h.ids) {
      const auto from = std::max<std::ptrdiff_t>(0, std::ssize(text) - m.context());
      const Ids seen(text.begin() + from, text.end());
      const Tensor logits = m(from_vector(seen, {1, std::ssize(seen)})).select(1, -1);
      sum += log_softmax(to(logits, f64), -1).at({0, id});
      text.push_back(id);
    }
    EXPECT_NEAR(h.log_probability, sum, 1e-4);
  }
}

}  // namespace
}  // namespace fovea
