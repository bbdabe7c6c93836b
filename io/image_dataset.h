// Labelled grey images in a folder of IDX files: MNIST, Fashion-MNIST and what follows their names.
#pragma once

#include <string>

#include "fovea/core/tensor.h"

namespace fovea {

struct ImageDataset {
  Tensor images;  ///< (N, H, W) f32 in [0, 1]
  Tensor labels;  ///< (N) i64 in [0, classes)
};

/// Reads train-images-idx3-ubyte and train-labels-idx1-ubyte (t10k-... when not `train`) from a
/// folder; the spelling train-images.idx3-ubyte and the ending .gz are found as well. IoError when
/// the folder or a file is missing (it lists what was looked for), when a file is malformed, when
/// the counts differ or are 0, and when a label is outside [0, classes).
ImageDataset load_image_dataset(const std::string& folder, bool train, int64_t classes = 10);

}  // namespace fovea
