#include "examples/cost/report.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "fovea/io/file.h"
#include "fovea/viz/curve.h"

namespace fovea::cost {
namespace {

// Three digits or so.
std::string number(double x) { return fmt::format("{:.{}f}", x, x < 1 ? 2 : x < 100 ? 1 : 0); }

std::string power(double x) { return std::isnan(x) ? "-" : fmt::format("{:.2f}", x); }

}  // namespace

void Table::head(const std::string& what) const {
  fmt::print("{:<22}", what);
  for (int64_t t = kFirstTokens; t <= tokens_; t *= 2) fmt::print(" {:>6}", t);
  fmt::print("  {:>5}\n", "T^");
}

void Table::row(const std::string& name, const Curve& curve, const std::vector<double>& values,
                double unit) const {
  fmt::print("{:<22}", name);
  size_t i = 0;
  for (int64_t t = kFirstTokens; t <= tokens_; t *= 2, ++i) {
    fmt::print(" {:>6}", i < values.size() ? number(values[i] * unit) : "-");
  }
  fmt::print("  {:>5}\n", power(exponent(curve.tokens, values)));
  std::fflush(stdout);
}

void write_curve(Metrics& m, const Method& method, const Curve& curve) {
  m.set(method.key + "_tokens", curve.tokens);
  m.set(method.key + "_seconds", curve.seconds);
  m.set(method.key + "_bytes", curve.bytes);
  m.set(method.key + "_time_exponent", exponent(curve.tokens, curve.seconds));
  m.set(method.key + "_memory_exponent", exponent(curve.tokens, curve.bytes));
  m.set(method.key + "_stopped", curve.stopped);
}

void draw(const std::string& path, const std::vector<Method>& methods,
          const std::vector<Curve>& curves, const std::string& subtitle) {
  Panel time{.title = "Time", .x_label = "log2 T", .y_label = "ms", .series = {}, .log_y = true};
  Panel memory{
      .title = "Memory", .x_label = "log2 T", .y_label = "peak MB", .series = {}, .log_y = true};
  for (size_t i = 0; i < methods.size(); ++i) {
    Series seconds{methods[i].key, {}, {}}, bytes = seconds;
    for (size_t k = 0; k < curves[i].tokens.size(); ++k) {
      seconds.x.push_back(std::log2(curves[i].tokens[k]));
      seconds.y.push_back(1e3 * curves[i].seconds[k]);
      bytes.y.push_back(1e-6 * curves[i].bytes[k]);
    }
    bytes.x = seconds.x;
    time.series.push_back(std::move(seconds));
    memory.series.push_back(std::move(bytes));
  }
  write_file_atomically(path, draw_curves({time, memory}, {.title = "What attention costs",
                                                           .subtitle = subtitle,
                                                           .width = 1000,
                                                           .height = 420}));
}

}  // namespace fovea::cost
