#include "fovea/viz/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "fovea/core/error.h"
#include "fovea/viz/svg.h"
#include "fovea/viz/ticks.h"

namespace fovea {
namespace {

constexpr const char* kColours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                    "#56B4E9", "#B38600", "#444B55"};
constexpr const char* kDashes[] = {"", "6 4", "2 4", "10 4 2 4"};  // one for each round of colours
constexpr double kHuge = 1e300;  // beyond it differences overflow: such values count as infinite
constexpr double kCharacter = 6.7, kLabelGap = 15;  // of 12-pixel text

struct Box {
  double left, top, right, bottom;
};

/// Maps values to pixels.
struct Scale {
  double low = 0, high = 1, from = 0, to = 1;
  bool log = false;

  bool shows(double v) const { return std::fabs(v) < kHuge && (!log || v > 0); }  // false for NaN
  double operator()(double v) const {
    const double a = log ? std::log10(low) : low, b = log ? std::log10(high) : high;
    return from + ((log ? std::log10(v) : v) - a) / (b - a) * (to - from);
  }
};

struct Limits {
  double low = INFINITY, high = -INFINITY;
  void add(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  bool empty() const { return low > high; }
};

/// Rounds the range of the data outwards to ticks; a range of losses or rates that comes near 0
/// begins there.
void choose_y(Scale& y, const Limits& data) {
  if (data.empty()) {
    y.low = y.log ? 0.1 : 0;
    y.high = 1;
    return;
  }
  if (y.log) {
    y.low = data.low / 1.15;
    y.high = data.high * 1.15;
    return;
  }
  const double margin = data.high > data.low ? 0.04 * (data.high - data.low)
                        : data.high != 0     ? 0.1 * std::fabs(data.high)
                                             : 0.5;
  y.high = data.high + margin;
  y.low = data.low >= 0 && data.low <= 0.3 * data.high ? 0 : data.low - margin;
}

void choose_x(Scale& x, const Limits& data) {
  x.low = data.empty() ? 0 : data.low;
  x.high = data.empty() ? 1 : data.high;
  if (x.low == x.high) {
    const double margin = std::max(0.5, 0.01 * std::fabs(x.low));
    x.low -= margin;
    x.high += margin;
  }
}

/// Writes the SVG of one panel.
class Plot {
 public:
  Plot(std::string& out, const Panel& panel, const Box& box) : out_(out), panel_(panel), box_(box) {
    Limits xs, ys;
    y_.log = panel.log_y;
    for (const Series& s : panel.series) {
      for (size_t i = 0; i < s.x.size(); ++i) {
        if (!x_.shows(s.x[i]) || !y_.shows(s.y[i])) continue;
        xs.add(s.x[i]);
        ys.add(s.y[i]);
      }
    }
    empty_ = xs.empty();
    choose_x(x_, xs);
    choose_y(y_, ys);
    x_.from = box.left;
    x_.to = box.right;
    y_.from = box.bottom;
    y_.to = box.top;
  }

  void draw() {
    axes();
    if (empty_) {
      text((box_.left + box_.right) / 2, (box_.top + box_.bottom) / 2, "no data", "middle",
           "#6B7480", "font-style=\"italic\"");
    }
    for (size_t i = 0; i < panel_.series.size(); ++i) line(i);
    labels();
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void text(double x, double y, const std::string& s, const char* anchor, const char* colour,
            const char* more = "") {
    put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\" {}>{}</text>\n", x, y,
        anchor, colour, more, xml_escape(s));
  }

  void axes() {
    if (!panel_.title.empty()) {
      text(box_.left, box_.top - 30, panel_.title, "start", "#1F2630",
           "font-size=\"14\" font-weight=\"600\"");
    }
    // Upright beside the axis a label is hard to read; above it, it is not.
    text(box_.left, box_.top - 10, panel_.y_label, "start", "#5A6370");
    const int rows = std::max(2, static_cast<int>((box_.bottom - box_.top) / 45));
    auto ticks = y_.log ? log_ticks(y_.low, y_.high, rows) : linear_ticks(y_.low, y_.high, rows);
    for (const Tick& t : ticks) {
      put("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#E4E7EB\"/>\n", box_.left, y_(t.value),
          box_.right);
      text(box_.left - 8, y_(t.value) + 4, t.text, "end", "#5A6370");
    }
    put("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#8A93A0\"/>\n", box_.left, box_.bottom,
        box_.right);
    const int columns = std::max(2, static_cast<int>((box_.right - box_.left) / 75));
    for (const Tick& t : linear_ticks(x_.low, x_.high, columns)) {
      put("<path d=\"M{:.1f} {:.1f}v5\" stroke=\"#8A93A0\"/>\n", x_(t.value), box_.bottom);
      text(x_(t.value), box_.bottom + 19, t.text, "middle", "#5A6370");
    }
    text((box_.left + box_.right) / 2, box_.bottom + 38, panel_.x_label, "middle", "#5A6370");
  }

  static const char* colour(size_t i) { return kColours[i % std::size(kColours)]; }
  static const char* dash(size_t i) {
    return kDashes[i / std::size(kColours) % std::size(kDashes)];
  }

  struct Point {
    double x, y;
  };

  /// Pixels of the parts between gaps. Of neighbours in one half-pixel column the first, the
  /// lowest, the highest and the last remain.
  std::vector<std::vector<Point>> parts(const Series& s) const {
    std::vector<std::vector<Point>> all;
    std::vector<Point> column;
    const auto flush = [&] {
      if (column.empty()) return;
      auto& part = all.back();
      const auto less = [](const Point& a, const Point& b) { return a.y < b.y; };
      const auto ends = std::minmax_element(column.begin(), column.end(), less);
      std::vector<size_t> keep{0, static_cast<size_t>(ends.first - column.begin()),
                               static_cast<size_t>(ends.second - column.begin()),
                               column.size() - 1};
      std::sort(keep.begin(), keep.end());
      keep.erase(std::unique(keep.begin(), keep.end()), keep.end());
      for (size_t k : keep) part.push_back(column[k]);
      column.clear();
    };
    bool gap = true;
    for (size_t i = 0; i < s.x.size(); ++i) {
      if (!x_.shows(s.x[i]) || !y_.shows(s.y[i])) {
        flush();
        gap = true;
        continue;
      }
      if (gap) all.emplace_back();
      gap = false;
      const Point p{x_(s.x[i]), y_(s.y[i])};
      if (!column.empty() && std::floor(2 * p.x) != std::floor(2 * column.front().x)) flush();
      column.push_back(p);
    }
    flush();
    return all;
  }

  void line(size_t i) {
    const auto all = parts(panel_.series[i]);
    if (all.empty()) return;
    std::string path;
    for (const auto& part : all) {
      for (size_t k = 0; k < part.size(); ++k) {
        fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", k == 0 ? "M" : "L", part[k].x,
                       part[k].y);
      }
      if (part.size() == 1) path += "h0";  // a lone point shows as a dot, by its round ends
    }
    const std::string dashes =
        *dash(i) ? fmt::format(" stroke-dasharray=\"{}\"", dash(i)) : std::string();
    const bool dense = static_cast<double>(panel_.series[i].x.size()) > box_.right - box_.left;
    put("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" "
        "stroke-linecap=\"round\"{}/>\n",
        path, colour(i), dense ? "1" : "2", dashes);
    const Point end = all.back().back();
    put("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\" fill=\"{}\"/>\n", end.x, end.y, colour(i));
    ends_.push_back({i, end, end.y});
  }

  struct End {
    size_t series;
    Point point;
    double label;  // y of its label
  };

  /// Names at the ends of the lines, pushed apart until none covers another.
  void labels() {
    std::stable_sort(ends_.begin(), ends_.end(),
                     [](const End& a, const End& b) { return a.label < b.label; });
    if (ends_.empty()) return;
    const auto n = static_cast<double>(ends_.size());
    const double gap = std::min(kLabelGap, (box_.bottom - box_.top) / n);
    double next = box_.top;
    for (End& e : ends_) {
      e.label = std::max(e.label, next);
      next = e.label + gap;
    }
    next = box_.bottom;
    for (size_t k = ends_.size(); k-- > 0;) {
      ends_[k].label = std::min(ends_[k].label, next);
      next = ends_[k].label - gap;
    }
    for (const End& e : ends_) {
      const double x = box_.right + 10;
      if (std::fabs(e.label - e.point.y) > 3 || x - e.point.x > 12) {
        put("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\" stroke-width=\"0.8\" "
            "opacity=\"0.6\"/>\n",
            e.point.x + 4, e.point.y, x - 2, e.label, colour(e.series));
      }
      text(x, e.label + 4, panel_.series[e.series].name, "start", colour(e.series),
           "font-weight=\"600\"");
    }
  }

  std::string& out_;
  const Panel& panel_;
  Box box_;
  Scale x_, y_;
  bool empty_ = true;
  std::vector<End> ends_;
};

double label_room(const Panel& panel) {
  int64_t longest = 0;
  for (const Series& s : panel.series) longest = std::max(longest, count_characters(s.name));
  return 18 + kCharacter * static_cast<double>(std::min<int64_t>(longest, 28));
}

void check(const std::vector<Panel>& panels, const CurveOptions& o) {
  if (panels.empty()) throw ValueError("draw_curves: there is no panel to draw");
  for (const Panel& p : panels) {
    for (const Series& s : p.series) {
      if (s.x.size() != s.y.size()) {
        throw ValueError(fmt::format("draw_curves: series '{}' has {} x and {} y; give as many",
                                     s.name, s.x.size(), s.y.size()));
      }
    }
  }
  const auto columns = static_cast<int64_t>(panels.size());
  if (o.width < 300 * columns || o.height < 200 || o.width > 100'000 || o.height > 100'000) {
    throw ValueError(fmt::format("draw_curves: {} x {} for {} panels; give each at least 300 x 200",
                                 o.width, o.height, columns));
  }
}

}  // namespace

std::string draw_curves(const std::vector<Panel>& panels, const CurveOptions& o) {
  check(panels, o);
  const auto width = static_cast<double>(o.width), height = static_cast<double>(o.height);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" font-family=\"{2}\" font-size=\"12\">\n<title>{3}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#FFFFFF\"/>\n",
      o.width, o.height, kSystemFonts, xml_escape(o.title.empty() ? "Curves" : o.title));
  double top = 20;
  if (!o.title.empty()) {
    out += fmt::format(
        "<text x=\"20\" y=\"{}\" font-size=\"18\" font-weight=\"650\" fill=\"#1F2630\">{}</text>\n",
        top + 14, xml_escape(o.title));
    top += 26;
  }
  if (!o.subtitle.empty()) {
    out += fmt::format("<text x=\"20\" y=\"{}\" font-size=\"13\" fill=\"#5A6370\">{}</text>\n",
                       top + 10, xml_escape(o.subtitle));
    top += 20;
  }
  if (top > 20) top += 8;
  bool any_title = false, any_x_label = false;
  for (const Panel& p : panels) {
    any_title = any_title || !p.title.empty();
    any_x_label = any_x_label || !p.x_label.empty();
  }
  const double each = (width - 20) / static_cast<double>(panels.size());
  for (size_t i = 0; i < panels.size(); ++i) {
    const double left = 20 + each * static_cast<double>(i);
    Plot(out, panels[i],
         {left + 44, top + (any_title ? 42 : 22), left + each - label_room(panels[i]),
          height - (any_x_label ? 52 : 34)})
        .draw();
  }
  return out + "</svg>\n";
}

}  // namespace fovea
