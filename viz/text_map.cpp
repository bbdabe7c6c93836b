#include "fovea/viz/text_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/core/error.h"
#include "fovea/viz/color_map.h"
#include "fovea/viz/heat_grid.h"
#include "fovea/viz/utf8.h"

namespace fovea {
namespace {

constexpr int64_t kLevel = 6;     // the widest name that is written level
constexpr int64_t kUpright = 10;  // the highest that is written upright
constexpr int64_t kRowName = 20;
constexpr const char* kBlocks[] = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
constexpr const char* kAscii[] = {" ", ".", ":", "*", "#"};

std::string repeat(std::string_view text, int64_t n) {
  std::string out;
  for (int64_t i = 0; i < n; ++i) out += text;
  return out;
}
std::string spaces(int64_t n) {
  return std::string(static_cast<size_t>(std::max<int64_t>(n, 0)), ' ');
}

/// The characters of a text, marks together with the letter that they stand on.
std::vector<std::string> letters_of(std::string_view text) {
  std::vector<std::string> letters;
  for (size_t i = 0; i < text.size();) {
    const std::string c(text.substr(i, character_at(text, i).length));
    if (letters.empty() || column_count(c) > 0) letters.emplace_back();
    letters.back() += c;
    i += c.size();
  }
  return letters;
}

int64_t widest_of(const std::vector<std::string>& texts) {
  int64_t most = 0;
  for (const std::string& s : texts) most = std::max(most, column_count(s));
  return most;
}

/// A map in lines of `row_width` columns for names, then for each cell one column between cells,
/// where brackets may stand, and `cell` columns.
class TextMap {
 public:
  TextMap(const HeatMap& map, const TextMapOptions& o)
      : o_(o), grid_(check_heat_map(map, "text_map")) {
    check_heat_range(o.low, o.high, "text_map");
    if (o.width < 20) {
      throw ValueError(fmt::format("text_map: width {}; need 20 columns or more", o.width));
    }
    row_names_ = names(map.row_labels, std::min(kRowName, o.width / 3));
    row_width_ = row_names_.empty() ? 0 : widest_of(row_names_) + 1;
    const int64_t least = o.color ? 2 : 1;  // a single column shows little colour
    cell_ = std::max(least, widest_of(names(map.column_labels, kLevel + 1)));
    upright_ = cell_ > kLevel || width_of(grid_.columns) > o.width;
    column_names_ = names(map.column_labels, upright_ ? kUpright : kLevel);
    if (upright_) {
      cell_ = least;
      for (const std::string& s : column_names_) cell_ = std::max(cell_, widest_of(letters_of(s)));
    }
    shown_ = grid_.columns;
    if (width_of(shown_) > o.width) {
      const int64_t mark = column_count(ellipsis()) + 1;  // with its bracket
      shown_ = std::max<int64_t>(1, (o.width - mark - row_width_ - 1) / (cell_ + 1));
    }
  }

  std::string draw() {
    if (!grid_.map->title.empty()) end_line(names({grid_.map->title}, o_.width)[0]);
    if (!column_names_.empty()) header();
    for (int64_t i = 0; i < grid_.rows; ++i) row(i);
    if (shown_ < grid_.columns) {
      end_line(fmt::format("{} the first {} of {} columns; a width of {} shows all", ellipsis(),
                           shown_, grid_.columns, width_of(grid_.columns)));
    }
    return std::move(out_);
  }

 private:
  std::string_view ellipsis() const { return o_.ascii ? "..." : "\u2026"; }
  int64_t width_of(int64_t columns) const { return row_width_ + columns * (cell_ + 1) + 1; }

  std::vector<std::string> names(const std::vector<std::string>& labels, int64_t columns) const {
    std::vector<std::string> list = heat_labels(labels, columns, ellipsis());
    if (!o_.ascii) return list;
    for (std::string& s : list) {
      for (const auto& [mark, plain] : {std::pair{"\u2423", "_"}, {"\uFFFD", "?"}}) {
        for (size_t at = 0; (at = s.find(mark)) != std::string::npos;) s.replace(at, 3, plain);
      }
    }
    return list;
  }

  /// Without the spaces at its end.
  void end_line(const std::string& line) {
    out_ += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }

  void header() {
    if (upright_) {
      std::vector<std::vector<std::string>> letters;
      size_t height = 0;
      for (int64_t j = 0; j < shown_; ++j) {
        letters.push_back(letters_of(column_names_[static_cast<size_t>(j)]));
        height = std::max(height, letters.back().size());
      }
      for (size_t above = height; above > 0; --above) {  // names stand on the first row of cells
        header_line([&](size_t j) {
          return above <= letters[j].size() ? letters[j][letters[j].size() - above] : std::string();
        });
      }
    } else {
      header_line([&](size_t j) { return column_names_[j]; });
    }
  }

  template <class TextOf>
  void header_line(TextOf text_of) {
    std::string line = spaces(row_width_);
    for (int64_t j = 0; j < shown_; ++j) {
      const std::string text = text_of(static_cast<size_t>(j));
      const int64_t room = cell_ - column_count(text);
      line += ' ' + spaces(room / 2) + text + spaces(room - room / 2);
    }
    end_line(line);
  }

  /// The column of the largest value above low, or -1.
  int64_t strongest(int64_t row) const {
    int64_t best = -1;
    double most = o_.low;
    for (int64_t j = 0; j < grid_.columns; ++j) {
      if (!(grid_.at(row, j) > most)) continue;
      most = grid_.at(row, j);
      best = j;
    }
    return best;
  }

  std::string cell(double value) const {
    const double share = heat_share(value, o_.low, o_.high);
    if (std::isnan(share)) return repeat("?", cell_);
    if (o_.color) {
      const Color c = sequential_color(share);
      return fmt::format("\x1b[48;2;{};{};{}m{}\x1b[0m", c.r, c.g, c.b, spaces(cell_));
    }
    return repeat((o_.ascii ? kAscii : kBlocks)[std::lround(4 * share)], cell_);
  }

  void row(int64_t i) {
    std::string line;
    if (row_width_ > 0) {
      const std::string& name = row_names_[static_cast<size_t>(i)];
      line = spaces(row_width_ - 1 - column_count(name)) + name + ' ';
    }
    const int64_t best = strongest(i);
    for (int64_t j = 0; j < shown_; ++j) {
      line += j == best ? '[' : best >= 0 && j == best + 1 ? ']' : ' ';
      line += cell(grid_.at(i, j));
    }
    if (shown_ == grid_.columns) {
      line += best == shown_ - 1 ? "]" : "";
    } else {  // the ellipsis stands for what is cut, the strongest among it
      line += best >= shown_ ? '[' : best == shown_ - 1 ? ']' : ' ';
      line += ellipsis();
      line += best >= shown_ ? "]" : "";
    }
    end_line(line);
  }

  const TextMapOptions& o_;
  HeatGrid grid_;
  std::vector<std::string> row_names_, column_names_;
  int64_t row_width_ = 0, cell_ = 1, shown_ = 0;
  bool upright_ = false;
  std::string out_;
};

}  // namespace

std::string text_map(const HeatMap& map, const TextMapOptions& options) {
  return TextMap(map, options).draw();
}

}  // namespace fovea
