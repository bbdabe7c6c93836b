// A token at a time says what all at once say, and the source is made ready once.
#include <gtest/gtest.h>

#include "fovea/nn/attention/additive_scores.h"
#include "fovea/nn/attention/soft.h"
#include "fovea/ops/ops.h"
#include "tests/nn/measures.h"
#include "tests/nn/seq2seq/models.h"

namespace fovea {
namespace {

using namespace testing;

std::string name_of_kind(const ::testing::TestParamInfo<Kind>& info) { return info.param.str(); }

class Seq2SeqSteps : public ::testing::TestWithParam<Kind> {};

TEST_P(Seq2SeqSteps, EqualAllAtOnce) {
  const auto model = model_of(GetParam());
  const Tensor source = a_source(), target = a_target();
  const Tensor whole = model->logits(source, target);
  ASSERT_EQ(whole.shape().str(), Shape({3, 5, kSymbols}).str());
  for (const int64_t n : {1, 2}) {
    const auto decoding = model->decoding(source);
    for (int64_t t = 0; t + n <= 5; t += n) {
      EXPECT_LE(worst(decoding->next(target.narrow(1, t, n)), whole.select(1, t + n - 1)), 1e-5)
          << n << " at " << t;
    }
  }
  EXPECT_GT(worst(whole.select(1, 1), whole.select(1, 2)), 1e-2) << "steps that are all alike";
}

TEST_P(Seq2SeqSteps, KeepTextsApart) {
  const auto model = model_of(GetParam());
  const Tensor source = a_source(), target = a_target(), rows = tensor({2, 0, 0, 1});
  const Tensor whole = model->logits(index_select(source, 0, rows), index_select(target, 0, rows));
  const auto decoding = model->decoding(source);
  (void)decoding->next(target.narrow(1, 0, 2));
  decoding->select(rows);
  for (int64_t t = 2; t < 5; ++t) {
    const Tensor ids = index_select(target.narrow(1, t, 1), 0, rows);
    EXPECT_LE(worst(decoding->next(ids), whole.select(1, t)), 1e-5) << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Seq2SeqSteps, ::testing::ValuesIn(all_kinds()), name_of_kind);

class CountedScore : public AdditiveScore {
 public:
  explicit CountedScore(int* projected)
      : AdditiveScore({.query_dim = 8, .key_dim = 8, .hidden = 8}), projected_(projected) {}

 private:
  Tensor of_keys(const Tensor& keys) const override {
    ++*projected_;
    return w_k(keys);
  }
  int* projected_;
};

TEST(AttentionDecoder, ProjectsTheKeysOnce) {
  for (Kind k : recurrent_kinds()) {
    if (k.attention != "additive") continue;
    Seq2Seq model(options_of(k));
    int projected = 0;
    model.decoder.attention =
        std::make_unique<ScoredAttention>(std::make_shared<CountedScore>(&projected));
    (void)model.logits(a_source(), a_target());
    EXPECT_EQ(projected, 1) << k.str();
    const auto decoding = model.decoding(a_source());
    for (int64_t t = 0; t < 5; ++t) (void)decoding->next(a_target().narrow(1, t, 1));
    decoding->select(tensor({0, 0}));
    (void)decoding->next(tensor({{2}, {3}}));
    EXPECT_EQ(projected, 2) << k.str();
  }
}

}  // namespace
}  // namespace fovea
