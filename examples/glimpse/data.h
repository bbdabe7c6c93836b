// The images to look at, and the harder tasks made of them. Mnih 2014, section 4.1.
//
//     original    as they are
//     translated  each at a random place of a black 60 x 60 image
//     cluttered   translated, under four 8 x 8 pieces of other images at random places
//
// Random numbers are keyed: the image of item i in epoch e is a function of (seed, e, i) alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/core/random.h"
#include "fovea/io/image_dataset.h"

namespace fovea::glimpse {

/// What random numbers are for; each purpose has streams of its own.
enum class Purpose : uint64_t { weights, order, train_images, train_looks, valid, test, picture };

/// A generator for one occasion, the n-th (an epoch, a step, a batch) of its purpose.
Generator generator_for(uint64_t seed, Purpose purpose, int64_t n = 0);

enum class Task { original, translated, cluttered };
/// ValueError for other names.
Task parse_task(const std::string& name);

struct Batch {
  Tensor images;  ///< (B, H, W) f32
  Tensor labels;  ///< (B) i64
};

class Images {
 public:
  /// Draws places from (seed, purpose).
  Images(ImageDataset source, Task task, uint64_t seed, Purpose purpose);

  /// (N, h, w), before they are placed.
  const Tensor& source() const { return source_.images; }
  int64_t count() const { return source_.labels.numel(); }
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }

  /// Draws new places for every item, those of this epoch.
  void set_epoch(int64_t epoch);
  /// n items, each `copies` times: item i at rows i, n + i, 2 n + i, ...
  Batch batch(const int64_t* items, int64_t n, int64_t copies = 1) const;
  /// Items first, first + 1, ..., fewer at the end.
  Batch range(int64_t first, int64_t n) const;

 private:
  void draw(int64_t item, float* out) const;

  ImageDataset source_;
  Task task_;
  uint64_t seed_;
  Purpose purpose_;
  int64_t source_height_, source_width_, height_, width_;
  Tensor places_;  // (N, numbers) in [0, 1)
};

/// Items [first, first + n) of a data set.
ImageDataset part(const ImageDataset& d, int64_t first, int64_t n);

}  // namespace fovea::glimpse
