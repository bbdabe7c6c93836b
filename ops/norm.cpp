// Vector norms over axes.                                    x, gx: (.., R, ..), y, gy: (.., ..)
// forward   p = 1: sum |x|;  p = 2: m sqrt(sum (x / m)^2), m = max |x|;  p = inf: max |x|
// backward  p = 1: gy sign(x);  p = 2: gy x / y;  p = inf: gy sign(x), ties sharing it
//           at x = 0 the gradient is 0
#include <fmt/format.h>

#include <cmath>

#include "fovea/ops/internal.h"

namespace fovea {

Tensor norm(const Tensor& x, double p, const Axes& axes, bool keepdim) {
  detail::check_floating("norm", "x", x);
  if (!(p > 0)) throw ValueError(fmt::format("norm: p is {}; it must be above 0", p));
  const Shape reduced = detail::resolve_axes("norm", axes, x.dim());
  if (x.numel() == 0) return sum(abs(x), axes, keepdim);
  if (std::isinf(p)) return amax(abs(x), axes, keepdim);
  if (p == 1) return sum(abs(x), axes, keepdim);
  // Scaled, so that squares neither overflow nor vanish. The scale cancels in the gradient and
  // counts as a constant: d/dx of m |x / m| is the same for every m.
  Tensor m;
  {
    const NoGrad scope;
    m = amax(abs(x), axes, true);
    m = masked_fill(m, logical_or(m == 0, logical_not(isfinite(m))), 1);
  }
  const Tensor scaled = x / m;
  Tensor root;
  if (p == 2) {
    root = sqrt(sum(square(scaled), axes, true));
  } else {
    // The slope of |x|^p at 0 for p < 1, and that of s^(1/p) for p > 1, is infinite: 0 is kept out.
    const Tensor none = x.detach() == 0;
    const Tensor powers = masked_fill(pow(masked_fill(abs(scaled), none, 1), p), none, 0);
    const Tensor s = sum(powers, axes, true);
    const Tensor empty = s.detach() == 0;
    root = masked_fill(pow(masked_fill(s, empty, 1), 1 / p), empty, 0);
  }
  const Tensor y = root * m;
  return keepdim ? y : reshape(y, detail::reduced_shape(x.shape(), reduced, false));
}

}  // namespace fovea
