// Convolution by im2col.     x: (B, C, H, W); weight: (O, C/G, kh, kw); bias: (O); y: (B, O, Ho,
// Wo) forward   cols = every window of x as a column, (B, C kh kw, Ho Wo);  y = weight cols + bias
// backward  the product's gradients, and col2im: windows added back to where they came from. im2col
// and
//           col2im are linear and each other's transpose, so every order of derivative exists.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/ops/internal.h"
#include "fovea/ops/window.h"

namespace fovea {
namespace detail {
namespace {

// One (C, H, W) image: calls f(column element, image element or -1 when in the padding).
template <class F>
void for_window_rows(const Window& w, int64_t c, const F& f) {
  for (int64_t i = 0; i < w.kh; ++i) {
    for (int64_t j = 0; j < w.kw; ++j) {
      const int64_t row = (c * w.kh + i) * w.kw + j;
      for (int64_t oy = 0; oy < w.out_h(); ++oy) {
        const int64_t y = oy * w.sh - w.ph + i * w.dh;
        const int64_t col = (row * w.out_h() + oy) * w.out_w();
        if (y < 0 || y >= w.h) {
          f(col, int64_t{-1}, j);
        } else {
          f(col, (c * w.h + y) * w.w, j);
        }
      }
    }
  }
}

template <class T>
void im2col_image(const T* x, T* cols, const Window& w, int64_t c) {
  for_window_rows(w, c, [&](int64_t col, int64_t at, int64_t j) {
    for (int64_t ox = 0; ox < w.out_w(); ++ox) {
      const int64_t xx = ox * w.sw - w.pw + j * w.dw;
      cols[col + ox] = at < 0 || xx < 0 || xx >= w.w ? T(0) : x[at + xx];
    }
  });
}

template <class T>
void col2im_image(const T* cols, T* x, const Window& w, int64_t c) {
  for_window_rows(w, c, [&](int64_t col, int64_t at, int64_t j) {
    if (at < 0) return;
    for (int64_t ox = 0; ox < w.out_w(); ++ox) {
      const int64_t xx = ox * w.sw - w.pw + j * w.dw;
      if (xx >= 0 && xx < w.w) x[at + xx] += cols[col + ox];
    }
  });
}

}  // namespace

Tensor im2col(const Tensor& x, const Window& w) {
  const Tensor p = packed(x);
  const int64_t batch = x.shape()[0];
  const int64_t channels = x.shape()[1];
  Tensor cols = Tensor::empty({batch, channels * w.kh * w.kw, w.out_h() * w.out_w()}, x.dtype());
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t image = channels * w.h * w.w;
    const int64_t column = cols.shape()[1] * cols.shape()[2];
    parallel_for(batch * channels, grain_for(w.kh * w.kw * w.out_h() * w.out_w()),
                 [&](int64_t b, int64_t e) {
                   for (int64_t i = b; i < e; ++i) {
                     im2col_image(p.data<T>() + i / channels * image,
                                  cols.data<T>() + i / channels * column, w, i % channels);
                   }
                 });
  });
  return record("im2col", std::move(cols), {x}, {},
                [w, channels](const Saved&, const Tensor& gy) { return col2im(gy, channels, w); });
}

Tensor col2im(const Tensor& cols, int64_t channels, const Window& w) {
  const Tensor p = packed(cols);
  const int64_t batch = cols.shape()[0];
  Tensor x = zeros({batch, channels, w.h, w.w}, cols.dtype());
  visit_floating(cols.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t image = channels * w.h * w.w;
    const int64_t column = cols.shape()[1] * cols.shape()[2];
    parallel_for(batch * channels, grain_for(w.kh * w.kw * w.out_h() * w.out_w()),
                 [&](int64_t b, int64_t e) {
                   for (int64_t i = b; i < e; ++i) {
                     col2im_image(p.data<T>() + i / channels * column,
                                  x.data<T>() + i / channels * image, w, i % channels);
                   }
                 });
  });
  return record("col2im", std::move(x), {cols}, {},
                [w](const Saved&, const Tensor& gy) { return im2col(gy, w); });
}

Window make_window(const char* op, const Tensor& x, int64_t kh, int64_t kw, const ConvOptions& o) {
  Window w;
  w.h = x.shape()[2];
  w.w = x.shape()[3];
  w.kh = kh;
  w.kw = kw;
  w.sh = o.stride[0];
  w.sw = o.stride[1];
  w.ph = o.padding[0];
  w.pw = o.padding[1];
  w.dh = o.dilation[0];
  w.dw = o.dilation[1];
  const bool legal =
      kh > 0 && kw > 0 && w.sh > 0 && w.sw > 0 && w.ph >= 0 && w.pw >= 0 && w.dh > 0 && w.dw > 0;
  if (!legal) {
    throw ValueError(
        fmt::format("{}: kernel {}x{}, stride {}x{}, padding {}x{}, dilation {}x{}; padding "
                    "is >= 0, the others are >= 1",
                    op, kh, kw, w.sh, w.sw, w.ph, w.pw, w.dh, w.dw));
  }
  if (w.h + 2 * w.ph < w.dh * (kh - 1) + 1 || w.w + 2 * w.pw < w.dw * (kw - 1) + 1) {
    throw ShapeError(
        fmt::format("{}: x is {}, smaller with padding {}x{} than the kernel {}x{} with "
                    "dilation {}x{}",
                    op, x.shape().str(), w.ph, w.pw, kh, kw, w.dh, w.dw));
  }
  return w;
}

}  // namespace detail

namespace {

using detail::Window;

void check_conv(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                int64_t in, int64_t out) {
  detail::check_floating(op, "x", x);
  detail::check_floating(op, "weight", weight);
  detail::check_dtype(op, "weight", weight, x.dtype());
  if (bias.defined()) detail::check_dtype(op, "bias", bias, x.dtype());
  const bool fits = x.dim() == 4 && weight.dim() == 4 && x.shape()[1] == in &&
                    (!bias.defined() || (bias.dim() == 1 && bias.numel() == out));
  if (fits) return;
  throw ShapeError(
      fmt::format("{}: x is {} {}, weight is {} {}, bias is {}; need x (B, {}, H, W), "
                  "weight of 4 axes and bias ({})",
                  op, name(x.dtype()), x.shape().str(), name(weight.dtype()), weight.shape().str(),
                  bias.defined() ? bias.shape().str() : "undefined", in, out));
}

void check_groups(const char* op, int64_t groups, int64_t channels) {
  if (groups >= 1 && channels % groups == 0) return;
  throw ShapeError(fmt::format("{}: groups is {}, weight has {} channels; groups must divide them",
                               op, groups, channels));
}

Tensor with_bias(const Tensor& y, const Tensor& bias) {
  return bias.defined() ? y + reshape(bias, {bias.numel(), 1, 1}) : y;
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o) {
  detail::check_defined("conv2d", "weight", weight);
  const int64_t out = weight.dim() == 4 ? weight.shape()[0] : 0;
  check_groups("conv2d", o.groups, out);
  check_conv("conv2d", x, weight, bias, weight.dim() == 4 ? weight.shape()[1] * o.groups : 0, out);
  const Window w = detail::make_window("conv2d", x, weight.shape()[2], weight.shape()[3], o);
  const int64_t batch = x.shape()[0];
  const int64_t g = o.groups;
  const int64_t k = weight.shape()[1] * w.kh * w.kw;
  const Tensor cols = reshape(detail::im2col(x, w), {batch, g, k, w.out_h() * w.out_w()});
  const Tensor y = matmul(reshape(weight, {g, out / g, k}), cols);
  return with_bias(reshape(y, {batch, out, w.out_h(), w.out_w()}), bias);
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o) {
  detail::check_defined("conv1d", "x", x);
  detail::check_defined("conv1d", "weight", weight);
  if (x.dim() != 3 || weight.dim() != 3) {
    throw ShapeError(
        fmt::format("conv1d: x is {}, weight is {}; need x (B, C, T), weight (O, C/G, k)",
                    x.shape().str(), weight.shape().str()));
  }
  ConvOptions wide = o;
  wide.stride = {1, o.stride[0]};
  wide.padding = {0, o.padding[0]};
  wide.dilation = {1, o.dilation[0]};
  return squeeze(conv2d(unsqueeze(x, 2), unsqueeze(weight, 2), bias, wide), 2);
}

// The transpose of conv2d: x (B, O, h, w), weight (O, C/G, kh, kw) -> (B, C, H, W) with
// H = (h - 1) stride - 2 padding + dilation (kh - 1) + output_padding + 1.
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvOptions& o) {
  detail::check_defined("conv_transpose2d", "weight", weight);
  const int64_t in = weight.dim() == 4 ? weight.shape()[0] : 0;
  const int64_t out = weight.dim() == 4 ? weight.shape()[1] * o.groups : 0;
  check_groups("conv_transpose2d", o.groups, in);
  check_conv("conv_transpose2d", x, weight, bias, in, out);
  Window w;
  const int64_t kh = weight.shape()[2];
  const int64_t kw = weight.shape()[3];
  const auto grown = [&](int i, int64_t n, int64_t k) {
    return (n - 1) * o.stride[i] - 2 * o.padding[i] + o.dilation[i] * (k - 1) +
           o.output_padding[i] + 1;
  };
  const int64_t h = grown(0, x.shape()[2], kh);
  const int64_t width = grown(1, x.shape()[3], kw);
  for (int i = 0; i < 2; ++i) {
    if (o.output_padding[i] < 0 || o.output_padding[i] >= o.stride[i] || h < 1 || width < 1) {
      throw ShapeError(
          fmt::format("conv_transpose2d: x {} gives {}x{} with output_padding {}x{}; need "
                      "positive sizes and 0 <= output_padding < stride",
                      x.shape().str(), h, width, o.output_padding[0], o.output_padding[1]));
    }
  }
  const int64_t batch = x.shape()[0];
  const int64_t g = o.groups;
  w = detail::make_window("conv_transpose2d", Tensor::empty({0, out, h, width}, x.dtype()), kh, kw,
                          o);
  const Tensor rows = reshape(x, {batch, g, in / g, x.shape()[2] * x.shape()[3]});
  const Tensor k = reshape(weight, {g, in / g, (out / g) * kh * kw});
  const Tensor cols = matmul(transpose(k, -2, -1), rows);
  return with_bias(
      detail::col2im(reshape(cols, {batch, out * kh * kw, x.shape()[2] * x.shape()[3]}), out, w),
      bias);
}

}  // namespace fovea
