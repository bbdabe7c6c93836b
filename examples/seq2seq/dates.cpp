#include "examples/seq2seq/dates.h"

#include <fmt/format.h>

#include <chrono>
#include <set>

#include "examples/seq2seq/dataset.h"
#include "fovea/ops/ops.h"

namespace fovea::seq2seq {
namespace {

using std::chrono::days, std::chrono::sys_days, std::chrono::year, std::chrono::year_month_day;

constexpr std::array kMonths = {"January",   "February", "March",    "April",
                                "May",       "June",     "July",     "August",
                                "September", "October",  "November", "December"};
constexpr std::array kWeekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                  "Thursday", "Friday", "Saturday"};

// Where the digits of iso stand.
constexpr int kYear = 0, kMonth = 5, kDay = 8;

class Writer {
 public:
  explicit Writer(int64_t day) {
    const sys_days at{days(day)};
    const year_month_day date(at);
    year_ = static_cast<int>(date.year());
    month_ = static_cast<unsigned>(date.month());
    day_ = static_cast<unsigned>(date.day());
    weekday_ = std::chrono::weekday(at).c_encoding();
    out_.iso = fmt::format("{:04}-{:02}-{:02}", year_, month_, day_);
    out_.copied.fill(-1);
  }
  Writer& text(std::string_view s) {
    out_.text += s;
    return *this;
  }
  Writer& weekday(size_t letters = 9) {
    return text(std::string(kWeekdays[weekday_]).substr(0, letters));
  }
  Writer& month(size_t letters = 9) {
    return text(std::string(kMonths[month_ - 1]).substr(0, letters));
  }
  Writer& year() { return digits(kYear, 4); }
  Writer& short_year() { return digits(kYear + 2, 2); }
  Writer& number(bool padded = false) { return digits(kMonth, 2, padded); }
  Writer& day(bool padded = false) { return digits(kDay, 2, padded); }
  Writer& ordinal() {
    day();
    const bool teen = day_ / 10 == 1;
    const unsigned last = day_ % 10;
    return text(teen || last == 0 || last > 3 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : "rd");
  }
  WrittenDate done() { return std::move(out_); }

 private:
  // `n` digits of iso from `at` on; a leading zero only when padded.
  Writer& digits(int at, int n, bool padded = true) {
    for (int i = at; i < at + n; ++i) {
      const char c = out_.iso[static_cast<size_t>(i)];
      if (!padded && i == at && c == '0') continue;
      out_.copied[static_cast<size_t>(i)] = static_cast<int64_t>(out_.text.size());
      out_.text += c;
    }
    return *this;
  }

  WrittenDate out_;
  int year_;
  unsigned month_, day_, weekday_;
};

}  // namespace

DayRange days_of(int64_t style) {
  const bool short_year = style == 7 || style == 9 || style == 11;
  const sys_days first = year(short_year ? 1930 : 1000) / 1 / 1;
  const sys_days end = year(short_year ? 2030 : 3000) / 1 / 1;
  return {first.time_since_epoch().count(), (end - first).count()};
}

WrittenDate write_date(int64_t day, int64_t style) {
  Writer w(day);
  switch (style) {
    case 0:
      return w.day().text(" ").month().text(" ").year().done();
    case 1:
      return w.month().text(" ").day().text(", ").year().done();
    case 2:
      return w.weekday().text(", ").day().text(" ").month().text(" ").year().done();
    case 3:
      return w.weekday().text(", ").month().text(" ").day().text(", ").year().done();
    case 4:
      return w.day().text(" ").month(3).text(" ").year().done();
    case 5:
      return w.month(3).text(" ").ordinal().text(", ").year().done();
    case 6:
      return w.text("the ").ordinal().text(" of ").month().text(" ").year().done();
    case 7:
      return w.weekday(3).text(" ").day().text(" ").month(3).text(" '").short_year().done();
    case 8:
      return w.day().text(".").number().text(".").year().done();  // German
    case 9:
      return w.day(true).text(".").number(true).text(".").short_year().done();
    case 10:
      return w.number().text("/").day().text("/").year().done();  // US
    case 11:
      return w.number(true).text("/").day(true).text("/").short_year().done();
    case 12:
      return w.day(true).text("-").month(3).text("-").year().done();
    default:
      return w.year().text("/").number(true).text("/").day(true).done();
  }
}

Dataset load_dates(const Config& c) {
  Generator g(c.seed);
  const Tensor day = randint(0, int64_t{1} << 40, {c.samples}, &g);
  const Tensor style = randint(0, kDateStyles, {c.samples}, &g);
  std::set<std::string> seen;
  std::vector<Sample> samples;
  const auto letters = [](const std::string& s) {
    std::vector<std::string> tokens;
    for (const char x : s) tokens.emplace_back(1, x);
    return tokens;
  };
  for (int64_t i = 0; i < c.samples; ++i) {
    const int64_t how = style.data<int64_t>()[i];
    const DayRange range = days_of(how);
    const WrittenDate d = write_date(range.first + day.data<int64_t>()[i] % range.count, how);
    if (seen.insert(d.text).second)
      samples.push_back({letters(d.text), {letters(d.iso)}, {d.copied.begin(), d.copied.end()}});
  }
  Dataset d = make_dataset(samples);
  d.report = fmt::format("{} dates, written in {} ways", samples.size(), kDateStyles);
  return d;
}

}  // namespace fovea::seq2seq
