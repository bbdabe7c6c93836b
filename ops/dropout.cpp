// Dropout.                                             x, y, gy, gx: any one shape
// forward   y_i = m_i x_i / (1 - p), with m_i = 1 with probability 1 - p, else 0
// backward  gx_i = m_i gy_i / (1 - p), the same operation on gy
// saves     nothing: the key of the random numbers gives the mask again
#include <fmt/format.h>

#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/random.h"

namespace fovea {

Tensor detail::dropout_by_key(const Tensor& x, double p, RandomKey key) {
  if (p == 0) return x;
  const Tensor from = detail::packed(x);
  Tensor y = detail::empty_as(x);
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(x.numel(), 32768, [&](int64_t begin, int64_t end) {
      kernels::dropout(from.data<T>() + begin, y.data<T>() + begin, begin, end - begin, p, key.seed,
                       key.stream);
    });
  });
  return record("dropout", std::move(y), {x}, {},
                [p, key](const Saved&, const Tensor& gy) { return dropout_by_key(gy, p, key); });
}

Tensor dropout(const Tensor& x, double p, bool training, Generator* g) {
  detail::check_floating("dropout", "x", x);
  if (!(p >= 0 && p <= 1)) {
    throw ValueError(fmt::format("dropout: p is {}; a probability from 0 to 1 is needed", p));
  }
  if (!training || p == 0) return x;
  return detail::dropout_by_key(x, p, (g ? *g : default_generator()).next());
}

}  // namespace fovea
