#include "fovea/viz/color_map.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

uint8_t srgb(double linear) {
  const double x = std::clamp(linear, 0.0, 1.0);
  const double y = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(255 * y));
}

Color from_oklab(double lightness, double a, double b) {
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

}  // namespace

Color sequential_color(double t) {
  constexpr double kPi = 3.14159265358979323846, kHue = 255 * kPi / 180;
  t = t > 0 ? std::min(t, 1.0) : 0;
  // The chroma keeps inside what sRGB can show, so that no channel is cut off.
  const double chroma = 0.007 + 0.083 * t + 0.077 * std::sin(kPi * t);
  return from_oklab(0.975 - 0.68 * t, chroma * std::cos(kHue), chroma * std::sin(kHue));
}

}  // namespace fovea
