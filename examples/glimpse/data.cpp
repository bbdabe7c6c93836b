#include "examples/glimpse/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fovea/core/error.h"
#include "fovea/core/parallel.h"
#include "fovea/ops/ops.h"

namespace fovea::glimpse {
namespace {

constexpr int64_t kCanvas = 60;                // the side of a translated image
constexpr int64_t kPieces = 4;                 // of clutter
constexpr int64_t kPiece = 8;                  // their side
constexpr int64_t kNumbers = 2 + 5 * kPieces;  // y, x; for each piece: item, from y, x, to y, x

// A whole number in [0, n) of a uniform number in [0, 1).
int64_t scaled(double u, int64_t n) {
  return std::min(static_cast<int64_t>(u * static_cast<double>(n)), n - 1);
}

}  // namespace

Generator generator_for(uint64_t seed, Purpose purpose, int64_t n) {
  Generator g;
  // 2^16 streams for one occasion, 2^40 occasions for one purpose.
  g.set_state({seed, static_cast<uint64_t>(purpose) << 56 | static_cast<uint64_t>(n) << 16});
  return g;
}

Task parse_task(const std::string& name) {
  if (name == "original") return Task::original;
  if (name == "translated") return Task::translated;
  if (name == "cluttered") return Task::cluttered;
  throw ValueError(fmt::format("dataset `{}` is none of original, translated, cluttered", name));
}

ImageDataset part(const ImageDataset& d, int64_t first, int64_t n) {
  return {narrow(d.images, 0, first, n), narrow(d.labels, 0, first, n)};
}

Images::Images(ImageDataset source, Task task, uint64_t seed, Purpose purpose)
    : source_(std::move(source)),
      task_(task),
      seed_(seed),
      purpose_(purpose),
      source_height_(source_.images.size(1)),
      source_width_(source_.images.size(2)),
      height_(source_height_),
      width_(source_width_) {
  if (task == Task::original) return;
  if (source_height_ > kCanvas || source_width_ > kCanvas || source_height_ < kPiece ||
      source_width_ < kPiece) {
    throw ValueError(
        fmt::format("images of {} x {} cannot be placed on {} x {}: both sides must be {} to {}",
                    source_height_, source_width_, kCanvas, kCanvas, kPiece, kCanvas));
  }
  height_ = width_ = kCanvas;
  set_epoch(0);
}

void Images::set_epoch(int64_t epoch) {
  if (task_ == Task::original) return;
  Generator g = generator_for(seed_, purpose_, epoch);
  places_ = rand({count(), kNumbers}, f32, &g);
}

void Images::draw(int64_t item, float* out) const {
  const int64_t size = source_height_ * source_width_;
  const float* pixels = source_.images.data<float>();
  if (task_ == Task::original) {
    std::copy_n(pixels + item * size, size, out);
    return;
  }
  std::fill_n(out, height_ * width_, 0.0F);
  const float* u = places_.data<float>() + item * kNumbers;
  // The brighter pixel wins, so a piece never rubs out the digit under it.
  const auto paste = [&](const float* from, int64_t h, int64_t w, float to_y, float to_x) {
    float* to = out + scaled(to_y, height_ - h + 1) * width_ + scaled(to_x, width_ - w + 1);
    for (int64_t y = 0; y < h; ++y, from += source_width_, to += width_) {
      for (int64_t x = 0; x < w; ++x) to[x] = std::max(to[x], from[x]);
    }
  };
  paste(pixels + item * size, source_height_, source_width_, u[0], u[1]);
  if (task_ != Task::cluttered) return;
  u += 2;
  for (int64_t k = 0; k < kPieces; ++k, u += 5) {
    // Any item but this one, when there is another.
    const int64_t others = std::max<int64_t>(count() - 1, 1);
    const int64_t other = (item + 1 + scaled(u[0], others)) % count();
    const int64_t y = scaled(u[1], source_height_ - kPiece + 1);
    const int64_t x = scaled(u[2], source_width_ - kPiece + 1);
    paste(pixels + other * size + y * source_width_ + x, kPiece, kPiece, u[3], u[4]);
  }
}

Batch Images::batch(const int64_t* items, int64_t n, int64_t copies) const {
  const int64_t size = height_ * width_;
  Batch b{Tensor::empty({copies * n, height_, width_}), Tensor::empty({copies * n}, i64)};
  float* images = b.images.data<float>();
  int64_t* labels = b.labels.data<int64_t>();
  const int64_t* all = source_.labels.data<int64_t>();
  parallel_for(n, grain_for(size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      draw(items[i], images + i * size);
      labels[i] = all[items[i]];
      for (int64_t c = 1; c < copies; ++c) {
        std::copy_n(images + i * size, size, images + (c * n + i) * size);
        labels[c * n + i] = labels[i];
      }
    }
  });
  return b;
}

Batch Images::range(int64_t first, int64_t n) const {
  std::vector<int64_t> items(static_cast<size_t>(std::min(n, count() - first)));
  std::iota(items.begin(), items.end(), first);
  return batch(items.data(), static_cast<int64_t>(items.size()));
}

}  // namespace fovea::glimpse
