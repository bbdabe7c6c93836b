// Curves of a training run as a picture: a self-contained SVG, readable on light and dark pages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

/// One line. NaN and infinite points leave a gap; long lines are thinned to what the eye resolves,
/// keeping every peak.
struct Series {
  std::string name;
  std::vector<double> x, y;  ///< equally long
};

/// One pair of axes.
struct Panel {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool log_y = false;  ///< logarithmic y; values that are not positive leave a gap
};

struct CurveOptions {
  std::string title = {};
  std::string subtitle = {};
  int64_t width = 900;   ///< of the whole picture
  int64_t height = 380;  ///< of the whole picture
};

/// Panels stand side by side. Each line is named at its right end in its own colour; from the
/// eighth on, where colours repeat, lines are dashed as well. ValueError when there is no panel,
/// when x and y differ in length, or when the size leaves no room.
/// Colours: Okabe & Ito 2008, "Color universal design".
std::string draw_curves(const std::vector<Panel>& panels, const CurveOptions& options = {});

}  // namespace fovea
