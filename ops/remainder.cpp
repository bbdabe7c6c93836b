// remainder: what is left of a after whole numbers of b, with the sign of b.
//                                                             a, b: broadcast together
// forward   y = a - b q,  q = floor(a / b)
// backward  1 to a, -q to b; q is piecewise constant
// saves     a, b and y, when b wants a gradient
#include <cmath>
#include <type_traits>

#include "fovea/ops/elementwise.h"

namespace fovea {
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

}  // namespace fovea
