#include "fovea/io/image_dataset.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "fovea/core/error.h"
#include "fovea/io/idx.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

std::array<std::string, 4> spellings(const std::string& stem, int rank) {
  const std::string dashed = fmt::format("{}-idx{}-ubyte", stem, rank);
  const std::string dotted = fmt::format("{}.idx{}-ubyte", stem, rank);
  return {dashed, dashed + ".gz", dotted, dotted + ".gz"};
}

std::string find(const std::string& folder, const std::string& stem, int rank) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw IoError(
        fmt::format("load_image_dataset: '{}' {}; name the folder that holds the IDX files", folder,
                    fs::exists(folder, error) ? "is not a folder" : "does not exist"));
  }
  const auto names = spellings(stem, rank);
  for (const std::string& name : names) {
    const fs::path path = fs::path(folder) / name;
    if (fs::exists(path, error)) return path.string();
  }
  throw IoError(fmt::format("load_image_dataset: '{}' holds none of {}, {}, {}, {}", folder,
                            names[0], names[1], names[2], names[3]));
}

}  // namespace

ImageDataset load_image_dataset(const std::string& folder, bool train, int64_t classes) {
  const std::string stem = train ? "train" : "t10k";
  const std::string images_path = find(folder, stem + "-images", 3);
  const std::string labels_path = find(folder, stem + "-labels", 1);
  ImageDataset data{idx_images(images_path), idx_labels(labels_path)};

  const int64_t count = data.images.shape()[0];
  if (count != data.labels.numel()) {
    throw IoError(fmt::format(
        "load_image_dataset: '{}' holds {} images, '{}' holds {} labels; they must belong together",
        images_path, count, labels_path, data.labels.numel()));
  }
  if (data.images.numel() == 0) {
    throw IoError(fmt::format("load_image_dataset: '{}' holds no pixels: shape {}", images_path,
                              data.images.shape().str()));
  }
  const int64_t* labels = data.labels.data<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    if (labels[i] >= classes) {
      throw IoError(
          fmt::format("load_image_dataset: '{}' has label {} at index {}; with {} classes "
                      "labels are 0 to {}",
                      labels_path, labels[i], i, classes, classes - 1));
    }
  }
  return data;
}

}  // namespace fovea
