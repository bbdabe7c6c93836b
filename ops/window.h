// Sliding windows over images, as convolution and pooling see them. Not public.
#pragma once

#include "fovea/ops/ops.h"

namespace fovea::detail {

/// Sides of images and kernels, strides, paddings and dilations above this are refused, so that no
/// product of two of them overflows.
inline constexpr int64_t kLargestSide = int64_t{1} << 30;

/// Kernel, stride, padding and dilation over an H x W image.
struct Window {
  int64_t h = 0, w = 0;
  int64_t kh = 1, kw = 1, sh = 1, sw = 1, ph = 0, pw = 0, dh = 1, dw = 1;
  int64_t out_h() const { return (h + 2 * ph - dh * (kh - 1) - 1) / sh + 1; }
  int64_t out_w() const { return (w + 2 * pw - dw * (kw - 1) - 1) / sw + 1; }
};
/// x (B, C, H, W) -> (B, C kh kw, Ho Wo), zeros in the padding.
Tensor im2col(const Tensor& x, const Window& w);
/// The transpose: columns added up where windows overlap.
Tensor col2im(const Tensor& cols, int64_t channels, const Window& w);
/// How many axes an image has, for messages: (H, W), or (T), which is then W of an H of 1.
enum class Axes2 { image, line };
/// ValueError unless sizes, strides and dilations are positive and paddings not negative.
void check_window(const char* op, int64_t kh, int64_t kw, const ConvOptions& o,
                  Axes2 axes = Axes2::image);
/// The window over x (B, C, H, W), checked: ValueError and ShapeError name the op.
Window make_window(const char* op, const Shape& x, int64_t kh, int64_t kw, const ConvOptions& o,
                   Axes2 axes = Axes2::image);

}  // namespace fovea::detail
