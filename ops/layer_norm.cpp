// layer_norm over the last axis.        x, y, gy, gx: (..., D); weight, bias: (D); Ba et al. 2016
// forward   h = (x - m) r,  m = mean(x),  r = 1 / sqrt(mean((x - m)^2) + eps);  y = h weight + bias
// backward  with g = gy weight:  gx = r (g - mean(g) - h mean(g h))
//           gweight = sum gy h,  gbias = sum gy, over all rows
// saves     x, weight, and m and r of every row
#include <fmt/format.h>

#include <algorithm>

#include "fovea/ops/kernels/rows.h"
#include "fovea/ops/reduce.h"

namespace fovea {
namespace {

// The rule, in ops. It computes m and r again from x, so that it can be differentiated.
std::array<Tensor, 3> layer_norm_vjp(const Saved& s, const Tensor& gy, double eps) {
  const Tensor& x = s[0];
  const Tensor d = detail::deviations(x, -1);
  const Tensor r = rsqrt(mean(square(d), -1, keepdim) + eps);
  const Tensor h = d * r;
  const Tensor g = s[1].defined() ? gy * s[1] : gy;
  const Tensor gx = r * (g - mean(g, -1, keepdim) - h * mean(g * h, -1, keepdim));
  return {gx, gy * h, gy};  // the engine sums the last two over the rows
}

// The same rule, one pass over memory. Rows are cut into at most 32 blocks with sums of their own.
std::array<Tensor, 3> layer_norm_vjp_fused(const Saved& s, const Tensor& gy) {
  const Tensor x = detail::packed(s[0]);
  const Tensor g = detail::packed(gy);
  const Tensor w = s[1].defined() ? detail::packed(s[1]) : Tensor();
  const int64_t n = x.shape().back();
  const int64_t rows = s[2].numel();
  Tensor gx = detail::empty_as(x);
  Tensor gw = zeros({n}, x.dtype());
  Tensor gb = zeros({n}, x.dtype());
  if (x.numel() == 0) return {gx, gw, gb};
  const int64_t block = std::max((rows + 31) / 32, grain_for(n * 4));
  const int64_t blocks = (rows + block - 1) / block;
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Scratch<T> part(2 * blocks * n);
    std::fill(part.data(), part.data() + 2 * blocks * n, T(0));
    parallel_chunks(blocks, [&](int64_t t) {
      const int64_t b = t * block;
      const int64_t count = std::min(block, rows - b);
      T* sums = part.data() + 2 * t * n;
      kernels::layer_norm_backward_rows(x.data<T>() + b * n, w.defined() ? w.data<T>() : nullptr,
                                        s[2].data<T>() + b, s[3].data<T>() + b, g.data<T>() + b * n,
                                        gx.data<T>() + b * n, sums, sums + n, count, n,
                                        kernels::worth_streaming(x.numel() * int64_t{sizeof(T)}));
    });
    for (int64_t j = 0; j < n; ++j) {
      double a = 0;
      double c = 0;
      for (int64_t t = 0; t < blocks; ++t) {
        a += part[2 * t * n + j];
        c += part[(2 * t + 1) * n + j];
      }
      gw.data<T>()[j] = static_cast<T>(a);
      gb.data<T>()[j] = static_cast<T>(c);
    }
  });
  return {gx, gw, gb};
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  detail::check_floating("layer_norm", "x", x);
  if (x.dim() == 0 || x.shape().back() == 0) {
    throw ShapeError(
        fmt::format("layer_norm: x is {}; its last axis is normalised and must have "
                    "elements",
                    x.shape().str()));
  }
  detail::check_affine("layer_norm", "weight", weight, x.shape().back(), x);
  detail::check_affine("layer_norm", "bias", bias, x.shape().back(), x);
  detail::check_eps("layer_norm", eps);
  const Tensor p = detail::packed(x);
  const Tensor w = weight.defined() ? detail::packed(weight) : Tensor();
  const Tensor b = bias.defined() ? detail::packed(bias) : Tensor();
  const int64_t n = x.shape().back();
  const int64_t rows = x.numel() / n;
  Tensor y = detail::empty_as(x);
  Tensor m = Tensor::empty({rows}, x.dtype());
  Tensor r = Tensor::empty({rows}, x.dtype());
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(rows, grain_for(n * 4), [&](int64_t first, int64_t last) {
      kernels::layer_norm_rows(p.data<T>() + first * n, w.defined() ? w.data<T>() : nullptr,
                               b.defined() ? b.data<T>() : nullptr, eps, y.data<T>() + first * n,
                               m.data<T>() + first, r.data<T>() + first, last - first, n,
                               kernels::worth_streaming(x.numel() * int64_t{sizeof(T)}));
    });
  });
  return record("layer_norm", std::move(y), {x, weight, bias},
                {save_input("x", x), save_if(weight.defined(), save_input("weight", weight)),
                 save_extra("mean", m), save_extra("rstd", r)},
                [eps](const Saved& s, const Tensor& gy) {
                  auto g = use_formula() ? layer_norm_vjp(s, gy, eps) : layer_norm_vjp_fused(s, gy);
                  return g;
                });
}

}  // namespace fovea
