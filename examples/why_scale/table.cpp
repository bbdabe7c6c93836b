#include "examples/why_scale/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/io/file.h"
#include "fovea/viz/curve.h"

namespace fovea::why_scale {
namespace {

struct Quantity {
  const char* key;    // of metrics.json
  const char* head;   // of a column
  const char* title;  // of a panel; null: not drawn
  bool log_y;
  double Spread::*value;
};

constexpr Quantity kQuantities[] = {
    {"variance", "variance", "Scores", true, &Spread::variance},
    {"entropy", "entropy", "Weights", false, &Spread::entropy},
    {"gradient", "|dL/ds|", "Gradient", true, &Spread::gradient},
    {"gradient_q", "|dL/dq|", nullptr, true, &Spread::gradient_q},
    {"mean_gradient", nullptr, nullptr, true, &Spread::mean_gradient},
};

// Four digits or so, none of them an exponent's while it can be read without.
std::string number(double x) {
  if (x != 0 && std::fabs(x) < 1e-3) return fmt::format("{:.1e}", x);
  return fmt::format("{:.{}f}", x, x < 10 ? 3 : x < 100 ? 2 : 1);
}

std::vector<double> values(const Column& c, double Spread::*value) {
  std::vector<double> list;
  for (const Spread& s : c.rows) list.push_back(s.*value);
  return list;
}

}  // namespace

void Table::print(const std::vector<std::string>& shown) const {
  std::vector<const Column*> list;
  for (const Column& c : columns) {
    if (std::find(shown.begin(), shown.end(), c.key) != shown.end()) list.push_back(&c);
  }
  fmt::print("{:>5} ", "");
  for (const Column* c : list) fmt::print(" {:^36}", c->name);
  fmt::print("\n{:>5} ", x_name);
  for (size_t i = 0; i < list.size(); ++i) {
    for (const Quantity& q : kQuantities) {
      if (q.head != nullptr) fmt::print(" {:>8}", q.head);
    }
    fmt::print(" ");
  }
  fmt::print("\n");
  for (size_t row = 0; row < x.size(); ++row) {
    fmt::print("{:>5} ", x[row]);
    for (const Column* c : list) {
      for (const Quantity& q : kQuantities) {
        if (q.head != nullptr) fmt::print(" {:>8}", number(c->rows[row].*q.value));
      }
      fmt::print(" ");
    }
    fmt::print("\n");
  }
}

void Table::write(Metrics& m) const {
  m.set(x_key, std::vector<double>(x.begin(), x.end()));
  for (const Column& c : columns) {
    for (const Quantity& q : kQuantities) {
      m.set(fmt::format("{}_{}_by_{}", c.key, q.key, x_key), values(c, q.value));
    }
  }
}

void Table::draw(const std::string& path, const std::string& title,
                 const std::string& subtitle) const {
  std::vector<double> log_x;
  for (int64_t at : x) log_x.push_back(std::log2(static_cast<double>(at)));
  std::vector<Panel> panels;
  for (const Quantity& q : kQuantities) {
    if (q.title == nullptr) continue;
    Panel panel{.title = q.title,
                .x_label = "log2 " + x_name,
                .y_label = q.head,
                .series = {},
                .log_y = q.log_y};
    for (const Column& c : columns) panel.series.push_back({c.name, log_x, values(c, q.value)});
    panels.push_back(std::move(panel));
  }
  write_file_atomically(path,
                        draw_curves(panels, {.title = title, .subtitle = subtitle, .width = 1280}));
}

}  // namespace fovea::why_scale
