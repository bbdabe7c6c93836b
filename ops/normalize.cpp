// Normalisations that are compositions: rms_norm, batch_norm, group_norm. Their gradients are those
// of mean, square and rsqrt.
#include <fmt/format.h>

#include "fovea/ops/reduce.h"

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

// Where squares overflow: the same of x / m and eps / m^2, with m the largest of its row. m cancels
// and counts as a constant.
Tensor rms_norm_of_large(const Tensor& x, double eps) {
  const Tensor largest = amax(abs(x.detach()), -1, keepdim);
  const Tensor usable = logical_and(largest > 1, isfinite(largest));
  const Tensor m = masked_fill(largest, logical_not(usable), 1);
  const Tensor scaled = x / m;
  return scaled * rsqrt(mean(square(scaled), -1, keepdim) + eps / square(m));
}

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  detail::check_floating("rms_norm", "x", x);
  if (x.dim() == 0 || x.shape().back() == 0) {
    throw ShapeError(
        fmt::format("rms_norm: x is {}; its last axis must have elements", x.shape().str()));
  }
  detail::check_affine("rms_norm", "weight", weight, x.shape().back(), x);
  detail::check_eps("rms_norm", eps);
  const Tensor power = mean(square(x), -1, keepdim);
  const Tensor y = all(isfinite(power)) ? x * rsqrt(power + eps) : rms_norm_of_large(x, eps);
  return weight.defined() ? y * weight : y;
}

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
  Axes axes = 0;
  for (int d = 2; d < x.dim(); ++d) axes.list.push_back(d);
  const int64_t n = channels > 0 ? x.numel() / channels : 0;
  if (n < 2) {
    throw ShapeError(fmt::format(
        "batch_norm: x is {}, {} values a channel; training needs at least 2", x.shape().str(), n));
  }
  const Tensor d = detail::deviations(x, axes);
  const Tensor v = mean(square(d), axes, keepdim);
  {
    const NoGrad scope;
    const double unbiased = static_cast<double>(n) / static_cast<double>(n - 1);
    const auto move = [&](const Tensor& running, const Tensor& now) {
      if (running.defined()) running.add_((reshape(now, {channels}) - running) * o.momentum);
    };
    if (running_mean.defined()) move(running_mean, mean(x, axes));
    move(running_var, v.detach() * unbiased);
  }
  return affine(d * rsqrt(v + o.eps), weight, bias, x);
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
  const Tensor d = detail::deviations(rows, -1);
  const Tensor y = d * rsqrt(mean(square(d), -1, keepdim) + eps);
  return affine(reshape(y, x.shape()), weight, bias, x);
}

}  // namespace fovea
