// The curves as a table, as a picture and as metrics.
#pragma once

#include <string>
#include <vector>

#include "examples/cost/measure.h"
#include "fovea/io/metrics.h"

namespace fovea::cost {

/// A row for each method, a column for each T, and the exponent at the end.
class Table {
 public:
  explicit Table(int64_t tokens) : tokens_(tokens) {}
  void head(const std::string& what) const;
  /// values of the curve times `unit`, "-" where it has ended.
  void row(const std::string& name, const Curve& curve, const std::vector<double>& values,
           double unit) const;

 private:
  int64_t tokens_;
};

/// KEY_tokens, KEY_seconds, KEY_bytes, KEY_time_exponent, KEY_memory_exponent, KEY_stopped.
void write_curve(Metrics& m, const Method& method, const Curve& curve);

/// An SVG of time and of memory, both axes logarithmic.
void draw(const std::string& path, const std::vector<Method>& methods,
          const std::vector<Curve>& curves, const std::string& subtitle);

}  // namespace fovea::cost
