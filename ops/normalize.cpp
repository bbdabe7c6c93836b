// batch_norm and group_norm: the elements that share a mean are laid out as rows, which
// layer_norm.cpp normalises. Ioffe & Szegedy 2015; Wu & He 2018.
#include "fovea/ops/normalize.h"

#include <fmt/format.h>

namespace fovea {
namespace {

void check_batch(const char* op, const Tensor& x) {
  detail::check_floating(op, "x", x);
  if (x.dim() >= 2) return;
  throw ShapeError(fmt::format("{}: x is {}; (B, C, ...) is needed", op, x.shape().str()));
}

// A vector (C) against x (B, C, ...).
Tensor per_channel(const Tensor& w, const Tensor& x) {
  Shape s = Shape::filled(x.dim() - 1, 1);
  s[0] = x.shape()[1];
  return reshape(w, s);
}

Tensor affine(Tensor y, const Tensor& weight, const Tensor& bias, const Tensor& x) {
  if (weight.defined()) y = y * per_channel(weight, x);
  if (bias.defined()) y = y + per_channel(bias, x);
  return y;
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, const BatchNormOptions& o) {
  check_batch("batch_norm", x);
  const int64_t channels = x.shape()[1];
  detail::check_affine("batch_norm", "running_mean", running_mean, channels, x);
  detail::check_affine("batch_norm", "running_var", running_var, channels, x);
  detail::check_affine("batch_norm", "weight", weight, channels, x);
  detail::check_affine("batch_norm", "bias", bias, channels, x);
  detail::check_eps("batch_norm", o.eps);
  if (!(o.momentum >= 0 && o.momentum <= 1)) {
    throw ValueError(fmt::format("batch_norm: momentum is {}; it must be in [0, 1]", o.momentum));
  }
  if (!o.training) {
    if (!running_mean.defined() || !running_var.defined()) {
      throw ShapeError(fmt::format(
          "batch_norm: x is {}, running_mean is {}, running_var is {}; without training both are "
          "needed",
          x.shape().str(), detail::shape_or_undefined(running_mean),
          detail::shape_or_undefined(running_var)));
    }
    const Tensor r = rsqrt(running_var + o.eps);
    return affine((x - per_channel(running_mean, x)) * per_channel(r, x), weight, bias, x);
  }
  const int64_t n = channels > 0 ? x.numel() / channels : 0;
  if (n < 2) {
    throw ShapeError(
        fmt::format("batch_norm: x is {}, {} values per channel; training needs at least 2",
                    x.shape().str(), n));
  }
  const Tensor channel_first = transpose(x, 0, 1);  // (C, B, ...)
  const auto normalized =
      detail::normalize_rows("batch_norm", reshape(channel_first, {channels, n}), {}, {},
                             {.eps = o.eps, .variance = true});
  {
    const NoGrad scope;
    const double unbiased = static_cast<double>(n) / static_cast<double>(n - 1);
    const auto move = [&](const Tensor& running, const Tensor& now) {
      if (running.defined()) running.add_((now - running) * o.momentum);
    };
    move(running_mean, normalized.mean);
    move(running_var, normalized.variance * unbiased);
  }
  const Tensor y = transpose(reshape(normalized.y, channel_first.shape()), 0, 1);
  return affine(y, weight, bias, x);
}

Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias,
                  double eps) {
  check_batch("group_norm", x);
  const int64_t channels = x.shape()[1];
  detail::check_affine("group_norm", "weight", weight, channels, x);
  detail::check_affine("group_norm", "bias", bias, channels, x);
  detail::check_eps("group_norm", eps);
  if (groups < 1 || channels % groups != 0) {
    throw ShapeError(
        fmt::format("group_norm: x is {}, groups is {}; groups must divide the {} channels",
                    x.shape().str(), groups, channels));
  }
  if (x.numel() == 0) return affine(clone(x), weight, bias, x);
  const int64_t batch = x.shape()[0];
  const Tensor rows = reshape(x, {batch, groups, x.numel() / (batch * groups)});
  const Tensor y = detail::normalize_rows("group_norm", rows, {}, {}, {.eps = eps}).y;
  return affine(reshape(y, x.shape()), weight, bias, x);
}

}  // namespace fovea
