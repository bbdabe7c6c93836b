// Convolution by im2col.
//
// x: (B, C, H, W); weight: (O, C/G, kh, kw); bias: (O); y: (B, O, Ho, Wo)
// forward   cols = every window of x as a column, (B, C kh kw, Ho Wo);  y = weight cols + bias
// backward  the product's gradients, and col2im: windows added back to where they came from
//
// im2col and col2im are linear and each other's transpose: every order of derivative exists.
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

namespace {

// move(offset of the image, offset of its columns, channel) for every channel of every image.
template <class Move>
void each_channel(int64_t batch, int64_t channels, const Window& w, Move move) {
  const int64_t positions = w.kh * w.kw * w.out_h() * w.out_w();
  const int64_t image = channels * w.h * w.w, columns = channels * positions;
  parallel_for(batch * channels, grain_for(positions), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      move(i / channels * image, i / channels * columns, i % channels);
    }
  });
}

}  // namespace

Tensor im2col(const Tensor& x, const Window& w) {
  const Tensor p = packed(x);
  const int64_t batch = x.shape()[0], channels = x.shape()[1];
  Tensor cols = Tensor::empty({batch, channels * w.kh * w.kw, w.out_h() * w.out_w()}, x.dtype());
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    each_channel(batch, channels, w, [&](int64_t image, int64_t columns, int64_t channel) {
      im2col_image(p.data<T>() + image, cols.data<T>() + columns, w, channel);
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
    each_channel(batch, channels, w, [&](int64_t image, int64_t columns, int64_t channel) {
      col2im_image(p.data<T>() + columns, x.data<T>() + image, w, channel);
    });
  });
  return record("col2im", std::move(x), {cols}, {},
                [w](const Saved&, const Tensor& gy) { return im2col(gy, w); });
}

namespace {

std::string sides(int64_t h, int64_t w, Axes2 axes) {
  return axes == Axes2::line ? fmt::to_string(w) : fmt::format("{}x{}", h, w);
}
std::string sides(const std::array<int64_t, 2>& s, Axes2 axes) { return sides(s[0], s[1], axes); }

}  // namespace

void check_window(const char* op, int64_t kh, int64_t kw, const ConvOptions& o, Axes2 axes) {
  const auto legal = [](int64_t h, int64_t w, int64_t least) {
    return h >= least && w >= least && h <= kLargestSide && w <= kLargestSide;
  };
  if (legal(kh, kw, 1) && legal(o.stride[0], o.stride[1], 1) &&
      legal(o.padding[0], o.padding[1], 0) && legal(o.dilation[0], o.dilation[1], 1)) {
    return;
  }
  throw ValueError(fmt::format(
      "{}: kernel is {}, stride is {}, padding is {}, dilation is {}; padding must be at least 0, "
      "the others at least 1, and none above {}",
      op, sides(kh, kw, axes), sides(o.stride, axes), sides(o.padding, axes),
      sides(o.dilation, axes), kLargestSide));
}

Window make_window(const char* op, const Shape& x, int64_t kh, int64_t kw, const ConvOptions& o,
                   Axes2 axes) {
  check_window(op, kh, kw, o, axes);
  Window w;
  w.h = x[2];
  w.w = x[3];
  w.kh = kh;
  w.kw = kw;
  w.sh = o.stride[0];
  w.sw = o.stride[1];
  w.ph = o.padding[0];
  w.pw = o.padding[1];
  w.dh = o.dilation[0];
  w.dw = o.dilation[1];
  if (w.h > kLargestSide || w.w > kLargestSide || w.h + 2 * w.ph < w.dh * (kh - 1) + 1 ||
      w.w + 2 * w.pw < w.dw * (kw - 1) + 1) {
    Shape given = x;
    if (axes == Axes2::line) given.erase(2);
    throw ShapeError(
        fmt::format("{}: x is {}, kernel is {}, padding is {}, dilation is {}; x must be no "
                    "smaller with padding "
                    "than the kernel with dilation, and have no side above {}",
                    op, given.str(), sides(kh, kw, axes), sides(o.padding, axes),
                    sides(o.dilation, axes), kLargestSide));
  }
  Shape({x[0], x[1], kh, kw, w.out_h(), w.out_w()}).numel(op);
  return w;
}

}  // namespace detail

namespace {

using detail::Axes2;
using detail::Window;

// How a convolution is called: its name, and the shapes it wants.
struct Form {
  const char* op;
  int rank;
  const char* x;
  const char* weight;
  bool transposed;  // weight has the channels of x first, those of the result second
};
constexpr Form kConv2d{"conv2d", 4, "(B, C, H, W)", "(O, C / groups, kh, kw)", false};
constexpr Form kConv1d{"conv1d", 3, "(B, C, T)", "(O, C / groups, k)", false};
constexpr Form kTransposed{"conv_transpose2d", 4, "(B, C, H, W)", "(C, O / groups, kh, kw)", true};

void check_conv(const Form& f, const Tensor& x, const Tensor& weight, const Tensor& bias,
                int64_t groups) {
  detail::check_floating(f.op, "x", x);
  detail::check_floating(f.op, "weight", weight);
  detail::check_dtype(f.op, "weight", weight, x.dtype());
  if (bias.defined()) detail::check_dtype(f.op, "bias", bias, x.dtype());
  bool fits = x.dim() == f.rank && weight.dim() == f.rank;
  if (fits) {
    const int64_t n = weight.shape()[0];
    if (groups < 1 || groups > std::max<int64_t>(1, n) || n % groups != 0) {
      throw ShapeError(fmt::format("{}: groups is {}, x is {}, weight is {}; groups must divide {}",
                                   f.op, groups, x.shape().str(), weight.shape().str(), n));
    }
    const int64_t in = f.transposed ? n : weight.shape()[1] * groups;
    const int64_t out = f.transposed ? weight.shape()[1] * groups : n;
    fits = x.shape()[1] == in && (!bias.defined() || bias.shape() == Shape{out});
  }
  if (fits) return;
  throw ShapeError(
      fmt::format("{}: x is {}, weight is {}, bias is {}, groups is {}; need x {}, weight {}, "
                  "bias (O)",
                  f.op, x.shape().str(), weight.shape().str(), detail::shape_or_undefined(bias),
                  groups, f.x, f.weight));
}

Tensor with_bias(const Tensor& y, const Tensor& bias) {
  return bias.defined() ? y + reshape(bias, {bias.numel(), 1, 1}) : y;
}

// On images, whatever the caller had.
Tensor convolve(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                const ConvOptions& o, Axes2 axes) {
  const Window w =
      detail::make_window(op, x.shape(), weight.shape()[2], weight.shape()[3], o, axes);
  const int64_t out = weight.shape()[0];
  const int64_t batch = x.shape()[0];
  const int64_t g = o.groups;
  const int64_t k = weight.shape()[1] * w.kh * w.kw;
  const Tensor cols = reshape(detail::im2col(x, w), {batch, g, k, w.out_h() * w.out_w()});
  const Tensor y = matmul(reshape(weight, {g, out / g, k}), cols);
  return with_bias(reshape(y, {batch, out, w.out_h(), w.out_w()}), bias);
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o) {
  check_conv(kConv2d, x, weight, bias, o.groups);
  return convolve("conv2d", x, weight, bias, o, Axes2::image);
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o) {
  check_conv(kConv1d, x, weight, bias, o.groups);
  ConvOptions wide = o;
  wide.stride = {1, o.stride[0]};
  wide.padding = {0, o.padding[0]};
  wide.dilation = {1, o.dilation[0]};
  return squeeze(convolve("conv1d", unsqueeze(x, 2), unsqueeze(weight, 2), bias, wide, Axes2::line),
                 2);
}

// The transpose of conv2d: x (B, O, h, w), weight (O, C/G, kh, kw) -> (B, C, H, W) with
// H = (h - 1) stride - 2 padding + dilation (kh - 1) + output_padding + 1.
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvOptions& o) {
  check_conv(kTransposed, x, weight, bias, o.groups);
  const int64_t in = weight.shape()[0];
  const int64_t out = weight.shape()[1] * o.groups;
  const int64_t kh = weight.shape()[2];
  const int64_t kw = weight.shape()[3];
  detail::check_window("conv_transpose2d", kh, kw, o);
  const auto grown = [&](int i, int64_t n, int64_t k) {
    return (std::min(n, detail::kLargestSide) - 1) * o.stride[i] - 2 * o.padding[i] +
           o.dilation[i] * (k - 1) + o.output_padding[i] + 1;
  };
  bool fits = x.shape()[2] > 0 && x.shape()[3] > 0;
  for (int i = 0; i < 2; ++i) {
    fits = fits && o.output_padding[i] >= 0 && o.output_padding[i] < o.stride[i];
  }
  const int64_t h = fits ? grown(0, x.shape()[2], kh) : 0;
  const int64_t width = fits ? grown(1, x.shape()[3], kw) : 0;
  if (h < 1 || width < 1 || std::max(h, width) > detail::kLargestSide) {
    throw ShapeError(fmt::format(
        "conv_transpose2d: x is {}, kernel is {}x{}, stride is {}x{}, padding is {}x{}, "
        "output_padding is {}x{}; need x and the result with sizes from 1 to {}, and "
        "0 <= output_padding < stride",
        x.shape().str(), kh, kw, o.stride[0], o.stride[1], o.padding[0], o.padding[1],
        o.output_padding[0], o.output_padding[1], detail::kLargestSide));
  }
  const int64_t batch = x.shape()[0];
  const int64_t g = o.groups;
  const Window w = detail::make_window("conv_transpose2d", {batch, out, h, width}, kh, kw, o);
  const Tensor rows = reshape(x, {batch, g, in / g, x.shape()[2] * x.shape()[3]});
  const Tensor k = reshape(weight, {g, in / g, (out / g) * kh * kw});
  const Tensor cols = matmul(transpose(k, -2, -1), rows);
  return with_bias(
      detail::col2im(reshape(cols, {batch, out * kh * kw, x.shape()[2] * x.shape()[3]}), out, w),
      bias);
}

}  // namespace fovea
