#include "fovea/io/png.h"

#include <fmt/format.h>
#include <png.h>

#include <limits>

#include "fovea/core/error.h"
#include "fovea/io/file.h"

namespace fovea {

// libpng's simplified interface: its errors come back as a return value and a message, so no
// longjmp crosses a frame of ours.
std::string encode_png(const uint8_t* pixels, int64_t width, int64_t height, int channels) {
  constexpr int64_t kMaxSide = 1'000'000;  // libpng's own limit
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide) {
    throw ValueError(fmt::format("encode_png: the picture is {} x {}; sides are 1 to {}", width,
                                 height, kMaxSide));
  }
  if (channels != 1 && channels != 3) {
    throw ValueError(
        fmt::format("encode_png: {} channels; 1 (grey) or 3 (RGB) are written", channels));
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string out(bytes, '\0');
  const int done = png_image_write_to_memory(&image, out.data(), &bytes, /*convert_to_8_bit=*/0,
                                             pixels, /*row_stride=*/0, /*colormap=*/nullptr);
  const std::string message = image.message;
  png_image_free(&image);
  if (!done) {
    throw IoError(
        fmt::format("encode_png: libpng refuses a picture of {} x {}: {}", width, height, message));
  }
  out.resize(bytes);
  return out;
}

void write_png(const std::string& path, const uint8_t* pixels, int64_t width, int64_t height,
               int channels) {
  write_file_atomically(path, encode_png(pixels, width, height, channels));
}

}  // namespace fovea
