// atan2: the angle of the point (x, y).                       y, x: broadcast together
// backward  d/dy = x / (x^2 + y^2),  d/dx = -y / (x^2 + y^2);  0 at the origin and at
//           infinity
// saves     both
#include <cmath>

#include "fovea/ops/elementwise.h"
#include "fovea/ops/kernels/binary.h"

namespace fovea {

Tensor atan2(const Tensor& y_in, const Tensor& x_in) {
  auto [y, x] = detail::promoted("atan2", y_in, x_in, "y", "x");
  y = detail::as_floating(y);
  x = detail::as_floating(x);
  const Shape shape = detail::broadcast("atan2", {{"y", y}, {"x", x}});
  Tensor out = Tensor::empty(shape, y.dtype());
  const Tensor py = detail::packed(expand(y.detach(), shape));
  const Tensor px = detail::packed(expand(x.detach(), shape));
  visit_floating(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(out.numel(), grain_for(32), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i)
        out.data<T>()[i] = std::atan2(py.data<T>()[i], px.data<T>()[i]);
    });
  });
  return record("atan2", std::move(out), {y, x}, {save_input("y", y), save_input("x", x)},
                [](const Saved& s, const Tensor& gy) {
                  // Scaled by m = max(|x|, |y|), a constant: the squares neither overflow nor
                  // vanish.
                  const Tensor largest = maximum(abs(s[0].detach()), abs(s[1].detach()));
                  const Tensor flat = logical_or(largest == 0, isinf(largest));
                  const Tensor m = masked_fill(largest, flat, 1);
                  const Tensor v = masked_fill(s[0], flat, 0) / m;
                  const Tensor u = masked_fill(s[1], flat, 0) / m;
                  const Tensor r2 = masked_fill(square(u) + square(v), flat, 1);
                  const Tensor g = masked_fill(gy / (r2 * m), flat, 0);
                  return grads(g * u, neg(g * v));
                });
}

}  // namespace fovea
