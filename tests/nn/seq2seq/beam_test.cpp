// Beam search over models that look at a source: scores, and the penalty for what was passed over.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/core/error.h"
#include "fovea/nn/transformer/gpt.h"
#include "fovea/ops/ops.h"
#include "tests/nn/seq2seq/models.h"
#include "tests/op_cases/refused.h"

namespace fovea {
namespace {

using namespace testing;
using Ids = std::vector<int64_t>;

constexpr int64_t kStop = 6;

// What the model reads when it writes ids: the beginning, and all of them but the last.
Tensor read_for(const Ids& ids) {
  Ids read{kBegin};
  read.insert(read.end(), ids.begin(), ids.end() - 1);
  return from_vector(read, {1, std::ssize(read)});
}

double log_probability_of(const EncoderDecoder& model, const Tensor& source, const Ids& ids) {
  const Tensor logp = log_softmax(to(model.logits(source, read_for(ids)), f64), -1);
  double total = 0;
  for (size_t t = 0; t < ids.size(); ++t) total += logp.at({0, static_cast<int64_t>(t), ids[t]});
  return total;
}

// sum_j log(min(sum_t a_tj, 1)) over the words of one sentence, of which each got 1e-10 at least.
double coverage_penalty_of(const EncoderDecoder& model, const Tensor& source, const Ids& ids) {
  const Tensor a = model.alignment(source, read_for(ids));
  double total = 0;
  for (int64_t j = 0; j < source.size(1); ++j) {
    if (source.at({0, j}) == kPad) continue;
    double seen = 0;
    for (int64_t t = 0; t < a.size(2); ++t) seen += a.at({0, 0, t, j});
    total += std::log(std::fmax(1e-10, std::fmin(seen, 1)));
  }
  return total;
}

TEST(Seq2SeqBeams, OneBeamIsGreedy) {
  for (const Kind& k : all_kinds()) {
    const auto model = model_of(k);
    const Tensor source = a_source();
    const auto greedy = model->decoding(source), one = model->decoding(source);
    const Tensor ids = generate(*greedy, begin_of(source),
                                {.max_tokens = 6, .stop = kStop, .sample = {.temperature = 0}});
    const auto found =
        beam_search(*one, begin_of(source), {.beams = 1, .max_tokens = 6, .stop = kStop});
    ASSERT_EQ(found.size(), 3u);
    for (int64_t b = 0; b < 3; ++b) {
      Ids text;
      for (int64_t t = 1; t < ids.size(1); ++t) {
        text.push_back(static_cast<int64_t>(ids.at({b, t})));
        if (text.back() == kStop) break;
      }
      EXPECT_EQ(found[static_cast<size_t>(b)].at(0).ids, text) << k.str() << ", sentence " << b;
    }
  }
}

TEST(Seq2SeqBeams, ScoresAreThoseOfTheirTexts) {
  for (const Kind& k : all_kinds()) {
    const auto model = model_of(k);
    for (const double beta : {0.0, 0.7}) {
      const bool covers = k.looks() && k.decoder != "transformer";
      if (beta != 0 && !covers) continue;
      const auto decoding = model->decoding(a_source());
      const auto found = beam_search(*decoding, begin_of(a_source()),
                                     {.beams = 3,
                                      .max_tokens = 5,
                                      .stop = kStop,
                                      .length_penalty = 0.6,
                                      .coverage_penalty = beta});
      for (int64_t b = 0; b < 3; ++b) {
        const Tensor source = a_source().narrow(0, b, 1);
        const auto& texts = found[static_cast<size_t>(b)];
        ASSERT_EQ(texts.size(), 3u);
        for (size_t i = 0; i < texts.size(); ++i) {
          const Hypothesis& h = texts[i];
          SCOPED_TRACE(fmt::format("{}, beta {}, sentence {}, text {}", k.str(), beta, b, i));
          EXPECT_NEAR(h.log_probability, log_probability_of(*model, source, h.ids), 1e-5);
          const double length = std::pow((5 + static_cast<double>(h.ids.size())) / 6, 0.6);
          const double cover = beta == 0 ? 0 : beta * coverage_penalty_of(*model, source, h.ids);
          EXPECT_NEAR(h.score, h.log_probability / length + cover, 1e-5);
          if (i > 0) {
            EXPECT_LE(h.score, texts[i - 1].score);
          }
        }
      }
    }
  }
}

// Token 1 looks at the first word alone, token 2 at both: the likelier text passes a word over.
class HalfBlind : public Decoding {
 public:
  Tensor next(const Tensor& ids) override {
    const int64_t n = ids.size(0);
    if (!coverage_.defined()) coverage_ = zeros({n, 2}, f64);
    Tensors logits;
    for (const int64_t id : select_last(ids)) {
      const bool begun = id == 0;
      logits.push_back(begun ? tensor({kNever, std::log(0.6), std::log(0.4), kNever}, f64)
                             : tensor({kNever, kNever, kNever, 0.0}, f64));
    }
    // The step that answers token 1 or 2, so that it is the stop that carries what was seen.
    Tensors seen;
    for (const int64_t id : select_last(ids)) {
      seen.push_back(id == 1   ? tensor({0.9, 0.1}, f64)
                     : id == 2 ? tensor({0.5, 0.5}, f64)
                               : tensor({0.5, 0.0}, f64));
    }
    coverage_ = coverage_ + stack(seen, 0);
    return stack(logits, 0);
  }
  void select(const Tensor& rows) override { coverage_ = index_select(coverage_, 0, rows); }
  Tensor coverage() const override { return coverage_; }

 private:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  static std::vector<int64_t> select_last(const Tensor& ids) {
    return fovea::select(ids, 1, -1).to_vector<int64_t>();
  }
  Tensor coverage_;
};

TEST(CoveragePenalty, PrefersTextsThatPassNothingOver) {
  const auto found = [](double beta) {
    HalfBlind model;
    return beam_search(model, tensor({{0}}),
                       {.beams = 2, .max_tokens = 3, .stop = 3, .coverage_penalty = beta})[0];
  };
  const auto plain = found(0), covered = found(1);
  EXPECT_EQ(plain.at(0).ids, (Ids{1, 3}));
  EXPECT_NEAR(plain[0].score, std::log(0.6), 1e-12);
  ASSERT_EQ(covered.at(0).ids, (Ids{2, 3}));
  EXPECT_NEAR(covered[0].score, std::log(0.4) + std::log(0.5), 1e-12);     // seen: 1 and 0.5
  EXPECT_NEAR(covered.at(1).score, std::log(0.6) + std::log(0.1), 1e-12);  // 1.4 and 0.1
  EXPECT_NEAR(covered[1].log_probability, std::log(0.6), 1e-12);
}

TEST(CoveragePenalty, IsRefusedWhereItCannotBe) {
  const auto refuses = [](Decoding& decoding, double beta, const char* says) {
    EXPECT_EQ(cases::refused("beam_search", cases::ErrorKind::value, {says},
                             [&] {
                               (void)beam_search(
                                   decoding, tensor({{1}}),
                                   {.beams = 2, .max_tokens = 2, .coverage_penalty = beta});
                             }),
              "");
  };
  const Tensor source = tensor({{3, 4}});
  for (const Kind& k : {Kind{.decoder = "transformer"}, Kind{.attention = "none"}}) {
    const auto model = model_of(k);
    refuses(*model->decoding(source), 0.5, "coverage_penalty is 0.5; this model keeps no coverage");
  }
  GPT gpt({.vocab = 5, .context = 6, .d_model = 4, .heads = 1, .layers = 1});
  LanguageDecoding writing(gpt);
  refuses(writing, 1, "keeps no coverage");
  const auto model = model_of({});
  for (const double bad : {-0.1, double{INFINITY}, std::nan("")}) {
    refuses(*model->decoding(source), bad, "coverage_penalty is");
  }
}

}  // namespace
}  // namespace fovea
