#include "fovea/io/bleu.h"

#include <cmath>

#include "bleu_sample.h"
#include "temp_dir.h"

namespace fovea {
namespace {

using testing::BleuSample;
using Tokens = std::vector<std::string>;

TEST(Bleu, TokenizesAsSacrebleu) {
  for (const auto& sample : testing::kTokenizedLines) {
    EXPECT_EQ(tokenize_13a(sample.line), sample.tokens) << sample.line;
  }
}

template <class T>
void expect_equal(const std::array<T, 4>& got, const std::vector<T>& want,
                  const std::string& what) {
  for (size_t i = 0; i < 4; ++i) {
    const auto error = std::abs(static_cast<double>(got[i] - want[i]));
    EXPECT_FALSE(!(error <= 1e-10))
        << what << ' ' << i + 1 << ": " << got[i] << ", not " << want[i];
  }
}

TEST(Bleu, EqualsSacrebleu) {
  for (const BleuSample& s : testing::kBleuSamples) {
    CorpusBleu corpus;
    for (size_t i = 0; i < s.translations.size(); ++i) {
      corpus.add(s.translations[i], s.references[i]);
    }
    const Bleu b = corpus.value();
    EXPECT_FALSE(!(std::abs(b.score - s.score) <= 1e-10)) << s.name << ' ' << b.score;
    EXPECT_FALSE(!(std::abs(b.brevity_penalty - s.brevity_penalty) <= 1e-12)) << s.name;
    EXPECT_EQ(b.translation_length, s.translation_length) << s.name;
    EXPECT_EQ(b.reference_length, s.reference_length) << s.name;
    expect_equal(b.precisions, s.precisions, s.name);
    expect_equal(b.matches, s.matches, s.name);
    expect_equal(b.totals, s.totals, s.name);
  }
}

// By hand: "the" is clipped to the two of the first reference, the closest length is 6.
TEST(Bleu, ClipsToTheReferences) {
  CorpusBleu corpus;
  corpus.add_tokens(Tokens(7, "the"), {{"the", "cat", "is", "on", "the", "mat"}, {"the", "cat"}});
  const Bleu b = corpus.value();
  EXPECT_EQ(b.matches, (std::array<int64_t, 4>{2, 0, 0, 0}));
  EXPECT_EQ(b.totals, (std::array<int64_t, 4>{7, 6, 5, 4}));
  EXPECT_EQ(b.reference_length, 6);
  EXPECT_DOUBLE_EQ(b.precisions[0], 100 * 2 / 7.0);
  EXPECT_DOUBLE_EQ(b.precisions[1], 100 / (2 * 6.0));
  EXPECT_DOUBLE_EQ(b.precisions[3], 100 / (8 * 4.0));
}

TEST(Bleu, TokensMayHoldAnything) {
  CorpusBleu corpus;
  corpus.add_tokens({"a b", "c", "1", ""}, {{"a", "b c", "1", ""}});
  EXPECT_EQ(corpus.value().matches, (std::array<int64_t, 4>{2, 1, 0, 0}));
}

TEST(Bleu, OverNothing) {
  EXPECT_EQ(CorpusBleu().value().score, 0);
  CorpusBleu corpus;
  EXPECT_THROW(corpus.add("a", {}), ValueError);
  corpus.add("", {""});
  EXPECT_EQ(corpus.value().score, 0);
}

}  // namespace
}  // namespace fovea
