// Dates, which tell where a model must look: the very digits that it copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "examples/seq2seq/dates.h"
#include "examples/seq2seq/train.h"
#include "fovea/core/parallel.h"
#include "fovea/core/random.h"
#include "fovea/io/file.h"

namespace fovea::seq2seq {
namespace {

// Days after 1970-01-01, from `date -u -d ... +%s` / 86400.
constexpr int64_t kMay3 = 3409;          // Thursday 1979-05-03
constexpr int64_t kMillennium = 10957;   // Saturday 2000-01-01
constexpr int64_t kLeapDay = 19782;      // Thursday 2024-02-29
constexpr int64_t kNewYearsEve = -1;     // Wednesday 1969-12-31
constexpr int64_t kProleptic = -174962;  // Sunday 1490-12-21, before this calendar began

TEST(Seq2SeqDates, WritesEveryStyle) {
  const std::vector<std::pair<const char*, const char*>> known = {
      {"3 May 1979", "1 January 2000"},
      {"May 3, 1979", "January 1, 2000"},
      {"Thursday, 3 May 1979", "Saturday, 1 January 2000"},
      {"Thursday, May 3, 1979", "Saturday, January 1, 2000"},
      {"3 May 1979", "1 Jan 2000"},
      {"May 3rd, 1979", "Jan 1st, 2000"},
      {"the 3rd of May 1979", "the 1st of January 2000"},
      {"Thu 3 May '79", "Sat 1 Jan '00"},
      {"3.5.1979", "1.1.2000"},
      {"03.05.79", "01.01.00"},
      {"5/3/1979", "1/1/2000"},
      {"05/03/79", "01/01/00"},
      {"03-May-1979", "01-Jan-2000"},
      {"1979/05/03", "2000/01/01"}};
  ASSERT_EQ(known.size(), kDateStyles);
  for (int64_t style = 0; style < kDateStyles; ++style) {
    const auto& [may, january] = known[static_cast<size_t>(style)];
    EXPECT_EQ(write_date(kMay3, style).text, may) << "style " << style;
    EXPECT_EQ(write_date(kMay3, style).iso, "1979-05-03");
    EXPECT_EQ(write_date(kMillennium, style).text, january) << "style " << style;
    EXPECT_EQ(write_date(kMillennium, style).iso, "2000-01-01");
  }
}

TEST(Seq2SeqDates, KnowsLeapDaysAndDaysBefore1970) {
  EXPECT_EQ(write_date(kLeapDay, 2).text, "Thursday, 29 February 2024");
  EXPECT_EQ(write_date(kLeapDay + 1, 2).text, "Friday, 1 March 2024");
  EXPECT_EQ(write_date(kNewYearsEve, 3).text, "Wednesday, December 31, 1969");
  EXPECT_EQ(write_date(kNewYearsEve, 3).iso, "1969-12-31");
  EXPECT_EQ(write_date(kProleptic, 13).text, "1490/12/21");
  EXPECT_EQ(write_date(kProleptic, 2).text, "Sunday, 21 December 1490");
}

TEST(Seq2SeqDates, WritesOrdinals) {
  const std::map<int64_t, const char*> ordinals = {
      {1, "1st"},   {2, "2nd"},   {3, "3rd"},   {4, "4th"},   {10, "10th"},
      {11, "11th"}, {12, "12th"}, {13, "13th"}, {20, "20th"}, {21, "21st"},
      {22, "22nd"}, {23, "23rd"}, {24, "24th"}, {30, "30th"}, {31, "31st"}};
  for (const auto& [day, text] : ordinals) {
    EXPECT_EQ(write_date(kMillennium + day - 1, 6).text,
              std::string("the ") + text + " of January 2000");
  }
}

TEST(Seq2SeqDates, CopiedPlacesHoldTheSameCharacter) {
  for (int64_t style = 0; style < kDateStyles; ++style) {
    const DayRange range = days_of(style);
    size_t least = 10;
    for (int64_t day = range.first; day < range.first + range.count; day += range.count / 997) {
      const WrittenDate d = write_date(day, style);
      size_t copied = 0;
      for (size_t i = 0; i < d.copied.size(); ++i) {
        if (d.copied[i] < 0) continue;
        ASSERT_LT(d.copied[i], static_cast<int64_t>(d.text.size()));
        EXPECT_EQ(d.text[static_cast<size_t>(d.copied[i])], d.iso[i]) << d.text << ", " << d.iso;
        ++copied;
      }
      least = std::min(least, copied);
      EXPECT_EQ(d.copied[4], -1);  // no hyphen is copied
      EXPECT_EQ(d.copied[7], -1);
    }
    const bool short_year = style == 7 || style == 9 || style == 11;
    EXPECT_GE(least, short_year ? 3U : 5U) << "style " << style;  // the year, a digit of the day
  }
  // The second of two equal digits, not the first: 2.2.2022 copies its day from 0, its month
  // from 2.
  const WrittenDate same = write_date(19025, 8);
  EXPECT_EQ(same.text, "2.2.2022");
  EXPECT_THAT(same.copied, testing::ElementsAre(4, 5, 6, 7, -1, -1, 2, -1, -1, 0));
}

TEST(Seq2SeqDates, TwoDigitsOfAYearNameOneYear) {
  for (int64_t style = 0; style < kDateStyles; ++style) {
    const DayRange r = days_of(style);
    const bool short_year = style == 7 || style == 9 || style == 11;
    EXPECT_EQ(write_date(r.first, style).iso, short_year ? "1930-01-01" : "1000-01-01");
    EXPECT_EQ(write_date(r.first + r.count - 1, style).iso,
              short_year ? "2029-12-31" : "2999-12-31");
  }
}

TEST(Seq2SeqDates, ASmallModelLooksAtTheDigitsItCopies) {
  const std::string out = testing::TempDir() + "seq2seq_dates_test";
  make_dirs(out);
  Config c = preset("dates", "additive");
  c.samples = 5000;
  c.epochs = 4;
  c.batch = 32;
  c.hidden = 64;
  c.embedding = 32;
  c.lr = 5e-3;
  const Dataset dataset = load_dataset(c);
  manual_seed(c.seed);
  const auto model = make_model(c, dataset.source.size(), dataset.target.size());
  examples::CommonFlags flags{.out = out, .quiet = true};
  Trainer trainer(*model, dataset, c, flags);
  ASSERT_TRUE(trainer.train());
  model->eval();
  EXPECT_GE(copied_found(*model, dataset.test, c), 0.95);
  const Scores s = evaluate(*model, dataset, dataset.test, c, c.decode);
  EXPECT_LE(s.sequence_error_rate, 0.1);
  EXPECT_LT(s.perplexity, 1.1);
  EXPECT_EQ(s.count, dataset.test.size());
  std::filesystem::remove_all(out);
}

}  // namespace
}  // namespace fovea::seq2seq
