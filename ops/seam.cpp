// What core/ needs of operations: the definitions behind core/seam.h.
#include "fovea/core/seam.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/binary.h"

namespace fovea::seam {

Tensor add(const Tensor& a, const Tensor& b) { return fovea::add(a, b); }

void accumulate(const Tensor& acc, const Tensor& x) {
  const NoGrad scope;
  const Tensor p = detail::packed(x);
  visit_floating(acc.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(acc.numel(), 32768, [&](int64_t b, int64_t e) {
      kernels::add_inplace(acc.data<T>() + b, p.data<T>() + b, e - b);
    });
  });
  acc.bump_version();
}

Tensor fit(const Tensor& g, const Shape& shape, DType dtype) {
  if (g.dtype() == dtype && g.shape() == shape) return g;
  Tensor out = g;
  if (!(g.shape() == shape)) {
    const int pad = g.dim() - shape.rank();
    Axes gone;
    bool fits = pad >= 0;
    for (int d = 0; d < g.dim() && fits; ++d) {
      if (d >= pad && g.shape()[d] == shape[d - pad]) continue;
      fits = d < pad || shape[d - pad] == 1;
      gone.list.push_back(d);
    }
    if (!fits) {
      throw ShapeError(
          fmt::format("backward: a gradient is {}, its input is {}; the vjp must return the "
                      "input's shape, or one it broadcasts to",
                      g.shape().str(), shape.str()));
    }
    out = reshape(gone.list.empty() ? out : sum(out, gone), shape);
  }
  return to(out, dtype);
}

Tensor inner(const Tensor& a, const Tensor& b) { return sum(a * b); }

Tensor ones(const Shape& shape, DType dtype) { return fovea::ones(shape, dtype); }

Tensor normal(const Shape& shape, DType dtype, uint64_t seed) {
  Generator g(seed);
  return randn(shape, dtype, &g);
}

Tensor copy(const Tensor& x) { return clone(x); }

bool has_nonfinite(const Tensor& x, bool infinite) {
  const NoGrad scope;
  return infinite ? !all(isfinite(x)) : any(isnan(x));
}

}  // namespace fovea::seam
