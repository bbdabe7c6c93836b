// The numbers of all widths and all head counts, as a table, as curves and as metrics.
#pragma once

#include <string>
#include <vector>

#include "examples/why_scale/measure.h"
#include "fovea/io/metrics.h"

namespace fovea::why_scale {

/// One way to divide the scores.
struct Column {
  std::string key;   ///< of metrics.json
  std::string name;  ///< as people read it
  std::vector<Spread> rows = {};
};

/// Ways side by side, a row for each x.
struct Table {
  std::string x_key;   ///< of metrics.json: "d" or "heads"
  std::string x_name;  ///< as people read it
  std::vector<int64_t> x = {};
  std::vector<Column> columns;

  /// The columns that are named in `shown`, to stdout.
  void print(const std::vector<std::string>& shown) const;
  /// X_KEY and KEY_QUANTITY_by_X_KEY for every column and quantity.
  void write(Metrics& m) const;
  /// An SVG against log2 x.
  void draw(const std::string& path, const std::string& title, const std::string& subtitle) const;
};

}  // namespace fovea::why_scale
