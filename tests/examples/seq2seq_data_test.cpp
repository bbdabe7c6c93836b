// What the program seq2seq learns from and what it is tested on: never the same source. And how
// what it writes is judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "examples/seq2seq/evaluate.h"
#include "fovea/core/error.h"
#include "fovea/io/bpe.h"
#include "fovea/ops/ops.h"

namespace fovea::seq2seq {
namespace {

using testing::ElementsAre;

TEST(Seq2SeqParts, AreTheSameEverywhere) {
  // Worked out in Python from the constants of FNV-1a: a hash modulo 100.
  for (const char* s : {"", "a", "hello", "d\to\tg"}) EXPECT_EQ(part_of(s), Part::train) << s;
  for (const char* s : {"am", "ci"}) EXPECT_EQ(part_of(s), Part::train) << s;  // 89
  for (const char* s : {"cm", "cs", "ai", "bg", "k"}) EXPECT_EQ(part_of(s), Part::valid) << s;
  for (const char* s : {"ch", "gf", "r", "4"}) EXPECT_EQ(part_of(s), Part::test) << s;
}

TEST(Seq2SeqParts, AreNinetyFiveAndFiveInAHundred) {
  std::map<Part, int> count;
  constexpr int kAll = 100000;
  for (int i = 0; i < kAll; ++i) ++count[part_of("source " + std::to_string(i))];
  // Five standard deviations: sqrt(1e5 * 0.05 * 0.95) = 69.
  EXPECT_NEAR(count[Part::valid], kAll / 20, 345);
  EXPECT_NEAR(count[Part::test], kAll / 20, 345);
  EXPECT_EQ(count[Part::train] + count[Part::valid] + count[Part::test], kAll);
}

std::string write_file(const char* name, const std::function<void(std::ostream&)>& write) {
  const std::string path = testing::TempDir() + name;
  std::ofstream out(path);
  write(out);
  return path;
}

std::string pairs_file() {
  return write_file("seq2seq_data_test.tsv", [](std::ostream& out) {
    // Each source three times, with a target of its own each time.
    for (int i = 0; i < 900; ++i) {
      out << 'a' << i % 20 << " b" << i % 15 << '\t' << "c" << i % 11 << '\n';
    }
  });
}

std::string lexicon_file() {
  return write_file("seq2seq_data_test.lexicon", [](std::ostream& out) {
    out << "MNCL\n";
    for (char a = 'a'; a <= 'z'; ++a) {
      for (char b = 'a'; b <= 'o'; ++b) {
        out << "(\"" << a << b << "\" nil (((x " << a << ") 1)))\n";
        out << "(\"" << a << b << "\" v (((y " << b << ") 0)))\n";
        out << "(\"" << static_cast<char>(a - 32) << b << "\" n (((z) 0)))\n";
      }
    }
  });
}

Config config_of(const std::string& task) {
  Config c = preset(task, "additive");
  c.min_count = 1;
  c.samples = 3000;
  c.longest = 4;
  if (task == "pairs") c.file = pairs_file();
  if (task == "phonemes") c.file = lexicon_file();
  return c;
}

std::set<std::vector<int32_t>> all(const TokenLists& lists) {
  std::set<std::vector<int32_t>> set;
  for (int64_t i = 0; i < lists.size(); ++i) set.insert({lists[i].begin(), lists[i].end()});
  return set;
}

TEST(Seq2SeqData, NoSourceIsInTwoParts) {
  for (const char* task : {"phonemes", "dates", "reverse", "pairs"}) {
    const Dataset d = load_dataset(config_of(task));
    const auto train = all(d.train.source), valid = all(d.valid.sources),
               test = all(d.test.sources);
    std::set<std::vector<int32_t>> together = train;
    together.insert(valid.begin(), valid.end());
    together.insert(test.begin(), test.end());
    EXPECT_EQ(together.size(), train.size() + valid.size() + test.size()) << task;
    EXPECT_GT(train.size(), 10 * test.size()) << task;
  }
}

TEST(Seq2SeqData, AWordHasAllItsPronunciationsWhateverItsCase) {
  const Dataset d = load_dataset(config_of("phonemes"));
  EXPECT_EQ(d.report, "390 words, 1170 pronunciations");
  for (const auto& right : d.test.references) EXPECT_EQ(right.size(), 3U);
  EXPECT_EQ(d.train.size(), 3 * static_cast<int64_t>(all(d.train.source).size()));
}

TEST(Seq2SeqData, TheSameSeedGivesTheSameDates) {
  Config c = config_of("dates");
  const Dataset a = load_dataset(c), b = load_dataset(c);
  EXPECT_EQ(all(a.train.source), all(b.train.source));
  c.seed = 2;
  EXPECT_NE(all(a.train.source), all(load_dataset(c).train.source));
}

TEST(Seq2SeqData, ReversedLettersAreCopiedFromTheEnd) {
  const Dataset d = load_dataset(config_of("reverse"));
  for (int64_t i = 0; i < d.test.size(); ++i) {
    const std::vector<std::string> from = d.source.decode(d.test.sources[i]);
    const auto& to = d.test.references[static_cast<size_t>(i)].front();
    const std::vector<std::string> right = d.target.decode(std::span(to));
    EXPECT_EQ(std::vector<std::string>(from.rbegin(), from.rend()), right);
    EXPECT_EQ(d.test.copied[static_cast<size_t>(i)].front(), d.test.sources.length(i) - 1);
    EXPECT_EQ(d.test.copied[static_cast<size_t>(i)].back(), 0);
  }
}

TEST(Seq2SeqData, TooLittleIsRefused) {
  Config c = config_of("pairs");
  c.max_pairs = 1;
  EXPECT_THROW((void)load_dataset(c), IoError);
}

TEST(Seq2SeqData, AFingerprintIsOfAllParts) {
  for (const char* task : {"phonemes", "dates", "reverse", "pairs"}) {
    const Dataset d = load_dataset(config_of(task));
    const uint64_t before = fingerprint(d);
    EXPECT_EQ(fingerprint(load_dataset(config_of(task))), before) << task;
    const std::vector<int32_t> ids = {Vocabulary::marks};
    Dataset more = d;
    more.train.add(ids, ids);
    EXPECT_NE(fingerprint(more), before) << task;
    for (HeldOut Dataset::*part : {&Dataset::valid, &Dataset::test}) {
      Dataset other = d;
      (other.*part).references.back().back().back() = Vocabulary::unknown;
      EXPECT_NE(fingerprint(other), before) << task;
    }
  }
}

TEST(Seq2SeqData, TypedTextIsSplitAsTheFileIs) {
  Config c = config_of("pairs");
  EXPECT_THAT(split_source(c, "  a\tb  c "), ElementsAre("a\tb", "c"));
  EXPECT_THROW((void)split_source(c, "a \xff"), IoError);
  c.unit = "characters";
  EXPECT_THAT(split_source(c, "é B"), ElementsAre("é", " ", "B"));
  c.unit = "bpe";
  c.source_bpe = Bpe::train({{"low", 5}, {"lot", 5}}, {.merges = 1}).text();
  EXPECT_THAT(split_source(c, "lo low"), ElementsAre("l", "o</w>", "lo", "w</w>"));
  EXPECT_THAT(split_source(config_of("phonemes"), "BÉ"), ElementsAre("b", "É"));
}

TEST(Seq2SeqData, SpreadTakesFromAllOver) {
  HeldOut ten;
  for (int32_t i = 0; i < 10; ++i) {
    ten.add(std::vector<int32_t>{i}, {{i}}, {i});
    ten.texts.push_back(std::to_string(i));
  }
  const HeldOut some = ten.spread(4);
  ASSERT_EQ(some.size(), 4);
  EXPECT_THAT(some.copied,
              ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(5), ElementsAre(7)));
  EXPECT_THAT(some.texts, ElementsAre("0", "2", "5", "7"));
  EXPECT_EQ(some.sources[3][0], 7);
  EXPECT_EQ(some.references[3][0][0], 7);
  EXPECT_EQ(ten.spread(99).size(), 10);
}

// Answers every source with the same ids, whatever it is.
class Parrot : public EncoderDecoder {
 public:
  Parrot(std::vector<int64_t> says, int64_t vocab) : vocab_(vocab) {
    says.push_back(Vocabulary::end);
    says_ = std::move(says);
  }
  Tensor logits(const Tensor& source, const Tensor& target,
                const ScheduledSampling& = {}) const override {
    std::vector<Tensor> steps;
    for (int64_t t = 0; t < target.size(1); ++t) steps.push_back(step(source.size(0), t));
    return stack(steps, 1);
  }
  Tensor alignment(const Tensor&, const Tensor&) const override { return {}; }
  std::unique_ptr<Decoding> decoding(const Tensor&) const override {
    struct Steps : Decoding {
      const Parrot* parrot = nullptr;
      int64_t t = 0;
      Tensor next(const Tensor& ids) override { return parrot->step(ids.size(0), t++); }
      void select(const Tensor&) override {}
    };
    auto steps = std::make_unique<Steps>();
    steps->parrot = this;
    return steps;
  }
  void visit(Visitor&) override {}

 private:
  Tensor step(int64_t rows, int64_t t) const {
    Tensor x = zeros({rows, vocab_});
    const int64_t id = says_[std::min(static_cast<size_t>(t), says_.size() - 1)];
    for (int64_t b = 0; b < rows; ++b) x.data<float>()[b * vocab_ + id] = 50;
    return x;
  }

  std::vector<int64_t> says_;
  int64_t vocab_;
};

// Sources "s", and targets over the tokens a (4), b (5) and c (6).
struct Judged {
  Dataset dataset;
  HeldOut data;

  Judged() {
    dataset.source = Vocabulary(std::vector<std::string>{"s"});
    dataset.target = Vocabulary(std::vector<std::string>{"a", "b", "c"});
  }
  void add(size_t length, std::vector<std::vector<int32_t>> references) {
    data.add(std::vector<int32_t>(length, 4), std::move(references));
  }
  Scores of(std::vector<int64_t> says, const char* task) const {
    const Config c = preset(task, "additive");
    return evaluate(Parrot(std::move(says), dataset.target.size()), dataset, data, c, {});
  }
};

TEST(Seq2SeqEvaluate, AnyOfSeveralReferencesIsRight) {
  Judged j;
  j.add(1, {{4, 5}, {6}});
  j.add(1, {{6}, {4, 5}});
  j.add(2, {{4, 6}, {5, 5, 5}});  // wrong: one edit of two
  const Scores s = j.of({4, 5}, "phonemes");
  EXPECT_DOUBLE_EQ(s.sequence_error_rate, 1.0 / 3);
  EXPECT_DOUBLE_EQ(s.token_error_rate, 1.0 / 6);
  EXPECT_EQ(s.count, 3);
  EXPECT_THAT(s.length, ElementsAre(1, 2));
  EXPECT_THAT(s.sequences, ElementsAre(2, 1));
  EXPECT_THAT(s.exact, ElementsAre(1, 0));
}

TEST(Seq2SeqEvaluate, WhatTheVocabularyDoesNotHaveIsNeverRight) {
  Judged j;
  for (int i = 0; i < 2; ++i) {
    j.add(1, {{4, 5, 6, 4, Vocabulary::unknown}});
    j.data.texts.push_back("a b c a rare");
  }
  const Scores s = j.of({4, 5, 6, 4, Vocabulary::unknown}, "pairs");
  EXPECT_EQ(s.sequence_error_rate, 1);
  EXPECT_DOUBLE_EQ(s.token_error_rate, 0.2);
  // "<", "unk" and ">" are three tokens: 4 of 7 match, 3 of 6 pairs, 2 of 5, 1 of 4.
  EXPECT_NEAR(s.bleu, 100 * std::pow(4. / 7 * 3 / 6 * 2 / 5 * 1 / 4, 0.25), 1e-9);
  EXPECT_NEAR(s.perplexity, 1, 1e-6);  // it was sure of <unk>
}

TEST(Seq2SeqEvaluate, PairsNeedTheirTexts) {
  Judged j;
  j.add(1, {{4}});
  EXPECT_THROW((void)j.of({4}, "pairs"), ValueError);
}

// This one never ends by itself, so that the limit shows.
TEST(Seq2SeqEvaluate, ATranslationDoesNotDependOnItsNeighbours) {
  const std::vector<std::vector<int32_t>> sources = {{4, 5, 6}, {6}, {4, 4, 4, 4, 5, 6, 6, 5, 4},
                                                     {5, 4, 6}, {5}, {6, 6, 4, 5}};
  TokenLists together;
  for (const auto& s : sources) together.add(s);
  Config c = preset("reverse", "additive");
  c.hidden = 8;
  manual_seed(3);
  const auto model = make_model(c, 7, 7);
  model->eval();
  const Parrot endless(std::vector<int64_t>(99, 4), 7);
  for (const EncoderDecoder* m : {static_cast<const EncoderDecoder*>(&endless),
                                  static_cast<const EncoderDecoder*>(model.get())}) {
    for (const DecodeFlags& flags : {DecodeFlags{}, DecodeFlags{.beams = 3}}) {
      const auto all = translate(*m, together, flags);
      for (size_t i = 0; i < sources.size(); ++i) {
        TokenLists one;
        one.add(sources[i]);
        EXPECT_EQ(all[i].ids, translate(*m, one, flags)[0].ids) << i;
        if (m == &endless) {
          EXPECT_EQ(all[i].ids.size(), 2 * sources[i].size() + 10);
        }
      }
    }
  }
}

TEST(Seq2SeqEvaluate, PerplexityIsOfTheFirstReference) {
  Judged j;
  j.add(1, {{4}, {5}});
  EXPECT_NEAR(j.of({4}, "phonemes").perplexity, 1, 1e-6);
  EXPECT_NEAR(std::log(j.of({5}, "phonemes").perplexity), 25,
              1e-3);  // 50 nats too sure, half the time
  EXPECT_EQ(j.of({5}, "phonemes").sequence_error_rate, 0);
}

TEST(Seq2SeqEvaluate, CopiesNothingToFind) {
  Judged j;
  j.add(1, {{4}});
  EXPECT_TRUE(std::isnan(copied_found(Parrot({4}, 7), j.data, preset("phonemes", "additive"))));
}

}  // namespace
}  // namespace fovea::seq2seq
