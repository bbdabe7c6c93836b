#include "examples/glimpse/sensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/core/error.h"
#include "fovea/core/parallel.h"
#include "fovea/ops/ops.h"

namespace fovea::glimpse {
namespace {

struct Grey {
  const float* pixels;
  int64_t height, width;
};

// Scale 0: rows are copied, with zeros beyond the edges.
void copy_square(const Grey& image, int64_t top, int64_t left, int64_t side, float* out) {
  const int64_t from = std::clamp<int64_t>(-left, 0, side);
  const int64_t to = std::clamp<int64_t>(image.width - left, from, side);
  for (int64_t y = 0; y < side; ++y, out += side) {
    const int64_t row = top + y;
    if (row < 0 || row >= image.height) {
      std::fill_n(out, side, 0.0F);
      continue;
    }
    std::fill_n(out, from, 0.0F);
    if (from < to) {
      std::copy_n(image.pixels + row * image.width + left + from, to - from, out + from);
    }
    std::fill_n(out + to, side - to, 0.0F);
  }
}

// Scale s: the mean of each block x block square.
void pool_square(const Grey& image, int64_t top, int64_t left, int64_t side, int64_t block,
                 float* out) {
  const float scale = 1.0F / static_cast<float>(block * block);
  for (int64_t y = 0; y < side; ++y) {
    const int64_t y0 = std::max<int64_t>(top + y * block, 0);
    const int64_t y1 = std::min(top + (y + 1) * block, image.height);
    for (int64_t x = 0; x < side; ++x) {
      const int64_t x0 = std::max<int64_t>(left + x * block, 0);
      const int64_t x1 = std::min(left + (x + 1) * block, image.width);
      float sum = 0;
      for (int64_t j = y0; j < y1; ++j) {
        for (int64_t i = x0; i < x1; ++i) sum += image.pixels[j * image.width + i];
      }
      *out++ = sum * scale;
    }
  }
}

void check(const Tensor& images, const Tensor& location) {
  if (images.dtype() != f32 || location.dtype() != f32) {
    throw DTypeError(fmt::format("see: images are {}, location is {}; both must be f32",
                                 name(images.dtype()), name(location.dtype())));
  }
  if (images.dim() != 3 || location.dim() != 2 || location.size(1) != 2 ||
      location.size(0) != images.size(0)) {
    throw ShapeError(fmt::format("see: images are {}, location is {}; need [B, H, W] and [B, 2]",
                                 images.shape().str(), location.shape().str()));
  }
  if (grad_recording() && (images.requires_grad() || location.requires_grad())) {
    throw GraphError("see: no gradient passes through a glimpse; detach() the arguments");
  }
}

}  // namespace

int64_t first_pixel(double location, int64_t size, int64_t cover) {
  const double centre = (location + 1) / 2 * static_cast<double>(size);
  return static_cast<int64_t>(std::floor(centre - static_cast<double>(cover) / 2 + 0.5));
}

Tensor see(const Tensor& images, const Tensor& location, const Retina& retina) {
  check(images, location);
  const Tensor packed = images.contiguous(), at = location.contiguous();
  const int64_t batch = packed.size(0), height = packed.size(1), width = packed.size(2);
  const float* pixels = packed.data<float>();
  const float* xy = at.data<float>();
  Tensor out = Tensor::empty({batch, retina.size()});
  float* seen = out.data<float>();
  const int64_t square = retina.patch * retina.patch;
  const int64_t cost = square * ((int64_t{4} << (2 * (retina.scales - 1))) - 1) / 3;

  parallel_for(batch, grain_for(cost), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const Grey image{pixels + b * height * width, height, width};
      float* to = seen + b * retina.size();
      for (int64_t s = 0; s < retina.scales; ++s, to += square) {
        const int64_t left = first_pixel(xy[2 * b], width, retina.cover(s));
        const int64_t top = first_pixel(xy[2 * b + 1], height, retina.cover(s));
        if (s == 0) {
          copy_square(image, top, left, retina.patch, to);
        } else {
          pool_square(image, top, left, retina.patch, int64_t{1} << s, to);
        }
      }
    }
  });
  return out;
}

}  // namespace fovea::glimpse
