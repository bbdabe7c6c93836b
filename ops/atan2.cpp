// Compositions of two and three tensors: atan2, remainder, lerp.
#include <cmath>
#include <type_traits>

#include "fovea/ops/elementwise.h"
#include "fovea/ops/kernels/binary.h"

namespace fovea {

// The angle of the point (x, y).   d/dy = x / (x^2 + y^2),  d/dx = -y / (x^2 + y^2);  0 at the
// origin
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
                  const Tensor origin = largest == 0;
                  const Tensor m = masked_fill(largest, origin, 1);
                  const Tensor v = s[0] / m;
                  const Tensor u = s[1] / m;
                  const Tensor r2 = masked_fill(square(u) + square(v), origin, 1);
                  const Tensor g = masked_fill(gy / (r2 * m), origin, 0);
                  return grads(g * u, neg(g * v));
                });
}

namespace {

// fmod is exact, where a - b floor(a / b) loses what a / b rounds away; then the sign of b.
template <class T>
T remainder_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == -1) return 0;  // the smallest number has no negative
    const T r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  } else {
    const T r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  }
}

template <class T>
void remainders(const T* a, int64_t sa, const T* b, int64_t sb, T* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = remainder_of(a[i * sa], b[i * sb]);
}

}  // namespace

// y = a - b q with q = floor(a / b): 1 to a, -q to b
Tensor remainder(const Tensor& a_in, const Tensor& b_in) {
  const auto [a, b] = detail::promoted("remainder", a_in, b_in);
  detail::broadcast("remainder", {{"a", a}, {"b", b}});  // names this operation when it throws
  detail::check_divisor("remainder", b);
  if (!a.is_floating()) {
    const Tensor x = to(a, i64), y = to(b, i64);
    return unrecorded("remainder", detail::zip<int64_t, int64_t>("remainder", x, y, remainders),
                      {x, y});
  }
  const Tensor y = a.dtype() == f32 ? detail::zip<float, float>("remainder", a, b, remainders)
                                    : detail::zip<double, double>("remainder", a, b, remainders);
  return record("remainder", y, {a, b},
                {save_if(b.requires_grad(), save_input("a", a)),
                 save_if(b.requires_grad(), save_input("b", b)), save_output(y)},
                [](const Saved& s, const Tensor& gy) {
                  if (!s.wants(1)) return grads(gy, Tensor());
                  const NoGrad constant;  // q is
                  const Tensor q = round((s[0] - s[2].detach()) / s[1]);
                  const EnableGrad again(true);
                  return grads(gy, neg(gy * q));
                });
}

Tensor lerp(const Tensor& a, const Tensor& b, const Tensor& weight) {
  detail::broadcast("lerp", {{"a", a}, {"b", b}, {"weight", weight}});
  return a + weight * (b - a);
}

Tensor lerp(const Tensor& a, const Tensor& b, double weight) {
  detail::broadcast("lerp", {{"a", a}, {"b", b}});
  return a + (b - a) * weight;
}

}  // namespace fovea
