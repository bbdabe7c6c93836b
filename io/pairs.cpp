#include "fovea/io/pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/core/error.h"
#include "fovea/io/characters.h"
#include "fovea/io/unexpected.h"
#include "fovea/io/utf8.h"

namespace fovea {
namespace {

bool only_spaces(std::string_view text) { return text.find_first_not_of(' ') == text.npos; }

void append_words(std::string_view text, std::vector<std::string_view>& out) {
  while (!only_spaces(text)) {
    text.remove_prefix(text.find_first_not_of(' '));
    out.push_back(text.substr(0, text.find(' ')));
    text.remove_prefix(out.back().size());
  }
}

// Column `number`, from 1, of a line that must have it.
std::string_view column(std::string_view line, int64_t number, const LineReader& lines) {
  for (int64_t at = 1;; ++at) {
    const size_t tab = line.find('\t');
    if (at == number) return line.substr(0, tab);
    if (tab == line.npos) {
      detail::unexpected(lines.where(),
                         fmt::format("at least {} columns with tabs between them", number),
                         fmt::format("{}: {}", at, detail::quoted(lines.line())));
    }
    line.remove_prefix(tab + 1);
  }
}

bool exceeds(size_t length, int64_t limit) {
  return limit > 0 && length > static_cast<size_t>(limit);
}

void count_line(int64_t& count, int64_t& first, int64_t line) {
  if (count++ == 0) first = line;
}

}  // namespace

void tokenize(std::string_view text, TokenUnit unit, std::vector<std::string_view>& out) {
  out.clear();
  if (unit == TokenUnit::words) {
    append_words(text, out);
  } else if (!only_spaces(text)) {
    detail::append_characters(text, out);
  }
}

std::string PairReport::str() const {
  std::string s = fmt::format("{} pairs", pairs);
  if (empty > 0) {
    s +=
        fmt::format("; {} without text on one side, the first in line {}", empty, first_empty_line);
  }
  if (too_long > 0)
    s += fmt::format("; {} too long, the first in line {}", too_long, first_too_long_line);
  return s;
}

PairReader::PairReader(const std::string& path, const PairOptions& o) : lines_(path), options_(o) {
  if (o.source_column < 1 || o.target_column < 1) {
    throw ValueError(fmt::format("PairReader: columns are {} and {}; they count from 1",
                                 o.source_column, o.target_column));
  }
  if (o.max_length < 0 || o.max_pairs < 0) {
    throw ValueError(
        fmt::format("PairReader: max_length is {} and max_pairs is {}; a limit is 0, for none, or "
                    "positive",
                    o.max_length, o.max_pairs));
  }
}

bool PairReader::next() {
  const bool enough = options_.max_pairs > 0 && report_.pairs >= options_.max_pairs;
  while (!enough && lines_.next()) {
    const std::string_view line = lines_.line();
    code_points(line, lines_.where());
    if (only_spaces(line)) {
      count_line(report_.empty, report_.first_empty_line, lines_.number());
      continue;
    }
    tokenize(column(line, options_.source_column, lines_), options_.source_unit, source_);
    tokenize(column(line, options_.target_column, lines_), options_.target_unit, target_);
    if (source_.empty() || target_.empty()) {
      count_line(report_.empty, report_.first_empty_line, lines_.number());
    } else if (exceeds(std::max(source_.size(), target_.size()), options_.max_length)) {
      count_line(report_.too_long, report_.first_too_long_line, lines_.number());
    } else {
      report_.pairs += 1;
      return true;
    }
  }
  source_.clear();
  target_.clear();
  if (report_.pairs == 0) {
    detail::unexpected(lines_.where(), "a pair by the end of the file", report_.str());
  }
  return false;
}

void PairReader::reject() {
  report_.pairs -= 1;
  count_line(report_.too_long, report_.first_too_long_line, lines_.number());
}

int64_t PairReader::memory() const {
  return lines_.memory() +
         static_cast<int64_t>((source_.capacity() + target_.capacity()) * sizeof(std::string_view));
}

PairCounts count_pairs(const std::string& path, const PairOptions& o) {
  PairCounts counts;
  PairReader pairs(path, o);
  while (pairs.next()) {
    for (const std::string_view token : pairs.source()) count_token(counts.source, token);
    for (const std::string_view token : pairs.target()) count_token(counts.target, token);
  }
  counts.report = pairs.report();
  return counts;
}

namespace {

// Calls use(source ids, target ids) for every pair that is kept.
template <class Use>
PairReport for_each_encoded(const std::string& path, const PairOptions& o,
                            const TokenEncoder& source, const TokenEncoder& target, Use use) {
  PairReader pairs(path, o);
  std::vector<int32_t> from, to;
  while (pairs.next()) {
    from.clear();
    to.clear();
    source(pairs.source(), from);
    target(pairs.target(), to);
    if (exceeds(std::max(from.size(), to.size()), o.max_length)) {
      pairs.reject();
    } else {
      use(from, to);
    }
  }
  return pairs.report();
}

}  // namespace

PairCorpus encode_pairs(const std::string& path, const PairOptions& o, const TokenEncoder& source,
                        const TokenEncoder& target, PairReport* report) {
  int64_t from_tokens = 0, to_tokens = 0;
  const PairReport found =
      for_each_encoded(path, o, source, target, [&](const auto& from, const auto& to) {
        from_tokens += static_cast<int64_t>(from.size());
        to_tokens += static_cast<int64_t>(to.size());
      });
  PairCorpus corpus;
  corpus.source.reserve(found.pairs, from_tokens);
  corpus.target.reserve(found.pairs, to_tokens);
  for_each_encoded(path, o, source, target,
                   [&](const auto& from, const auto& to) { corpus.add(from, to); });
  if (report != nullptr) *report = found;
  return corpus;
}

}  // namespace fovea
