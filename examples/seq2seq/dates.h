// Dates as people write them, and as ISO 8601 does: "Sat 3 May '79" is 1979-05-03.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace fovea::seq2seq {

inline constexpr int64_t kDateStyles = 14;

struct WrittenDate {
  std::string text;                ///< ASCII
  std::string iso;                 ///< "1979-05-03"
  std::array<int64_t, 10> copied;  ///< from where in text each character of iso was copied, or -1
};

/// The days that a style writes, as numbers from 1970-01-01 on: those from 1000 to 2999, or where
/// a year has two digits, from 1930 to 2029, which they then stand for.
struct DayRange {
  int64_t first = 0, count = 0;
};
DayRange days_of(int64_t style);

/// The date `day` days after 1970-01-01, written in a style from [0, kDateStyles).
WrittenDate write_date(int64_t day, int64_t style);

}  // namespace fovea::seq2seq
