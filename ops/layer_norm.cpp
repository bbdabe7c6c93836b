// Normalisation of rows, the last axis: layer_norm (Ba 2016), and without the mean rms_norm (Zhang
// & Sennrich 2019).                                     x, y, gy, gx: (..., D); weight, bias: (D)
// forward   h = (x - m) r,  m = mean(x),  r = 1 / sqrt(mean((x - m)^2) + eps);  y = h weight + bias
// backward  with g = gy weight:  gx = r (g - mean(g) - h mean(g h))
//           gweight = sum gy h,  gbias = sum gy, over all rows
//           without the mean, m = 0 and the term mean(g) is absent
// saves     x, weight, and m and r of every row
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/ops/kernels/rows.h"
#include "fovea/ops/normalize.h"
#include "fovea/ops/reduce.h"

namespace fovea {
namespace {

// The rule, in ops. It computes m and r again from x, so that it can be differentiated: of x / c,
// with a constant c of the size of the row, so that no square leaves the range. c cancels in h.
std::array<Tensor, 3> vjp(const Saved& s, const Tensor& gy, double eps, bool centred) {
  const Tensor c = detail::scale_of(s[0], -1, std::sqrt(eps));
  const Tensor x = s[0] / c;
  const Tensor d = centred ? detail::deviations(x, -1) : x;
  const Tensor power = mean(square(d), -1, keepdim) + square(std::sqrt(eps) / c);
  const Tensor flat = power == 0;  // a constant row, without eps
  const Tensor r = masked_fill(rsqrt(masked_fill(power, flat, 1)), flat, 0);
  const Tensor h = d * r;
  const Tensor g = s[1].defined() ? gy * s[1] : gy;
  const Tensor away = centred ? g - mean(g, -1, keepdim) : g;
  return {(away - h * mean(g * h, -1, keepdim)) * r / c, gy * h, gy};  // summed by the engine
}

// The same rule, one pass over memory. Rows are cut into at most 32 blocks with sums of their own.
std::array<Tensor, 3> vjp_fused(const Saved& s, const Tensor& gy, double eps, bool centred) {
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
      const kernels::LayerNormInputs<T> in{x.data<T>() + b * n,
                                           w.defined() ? w.data<T>() : nullptr,
                                           eps,
                                           s[2].data<T>() + b,
                                           s[3].data<T>() + b,
                                           centred};
      kernels::layer_norm_backward_rows(in, g.data<T>() + b * n, gx.data<T>() + b * n, sums,
                                        sums + n, count, n,
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

void detail::check_rows(const char* op, const Tensor& x, double eps) {
  check_floating(op, "x", x);
  check_eps(op, eps);
  if (x.dim() > 0 && x.shape().back() > 0) return;
  throw ShapeError(fmt::format("{}: x is {}; its last axis is normalised and must have elements",
                               op, x.shape().str()));
}

detail::NormalizedRows detail::normalize_rows(const char* op, const Tensor& x, const Tensor& weight,
                                              const Tensor& bias, const NormalizeRows& o) {
  const Tensor p = packed(x);
  const Tensor w = weight.defined() ? packed(weight) : Tensor();
  const Tensor b = bias.defined() ? packed(bias) : Tensor();
  const int64_t n = x.shape().back();
  const int64_t rows = x.numel() / n;
  Tensor y = empty_as(x);
  const auto statistic = [&](bool wanted) {
    return wanted ? Tensor::empty({rows}, x.dtype()) : Tensor();
  };
  const Tensor m = statistic(true), r = statistic(true), v = statistic(o.variance);
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(rows, grain_for(n * 4), [&](int64_t first, int64_t last) {
      const kernels::RowStatistics<T> out{m.data<T>() + first, r.data<T>() + first,
                                          v.defined() ? v.data<T>() + first : nullptr};
      kernels::layer_norm_rows(p.data<T>() + first * n, w.defined() ? w.data<T>() : nullptr,
                               b.defined() ? b.data<T>() : nullptr, o.eps, y.data<T>() + first * n,
                               out, last - first, n, o.centred,
                               kernels::worth_streaming(x.numel() * int64_t{sizeof(T)}));
    });
  });
  y = record(op, std::move(y), {x, weight, bias},
             {save_input("x", x), save_if(weight.defined(), save_input("weight", weight)),
              save_extra("mean", m), save_extra("rstd", r)},
             [eps = o.eps, centred = o.centred](const Saved& s, const Tensor& gy) {
               return use_formula() ? vjp(s, gy, eps, centred) : vjp_fused(s, gy, eps, centred);
             });
  return {y, m, v};
}

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  detail::check_rows("layer_norm", x, eps);
  detail::check_affine("layer_norm", "weight", weight, x.shape().back(), x);
  detail::check_affine("layer_norm", "bias", bias, x.shape().back(), x);
  return detail::normalize_rows("layer_norm", x, weight, bias, {.eps = eps}).y;
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  detail::check_rows("rms_norm", x, eps);
  detail::check_affine("rms_norm", "weight", weight, x.shape().back(), x);
  return detail::normalize_rows("rms_norm", x, weight, {}, {.eps = eps, .centred = false}).y;
}

}  // namespace fovea
