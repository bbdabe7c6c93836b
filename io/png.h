// Writing PNG pictures.
#pragma once

#include <cstdint>
#include <string>

namespace fovea {

/// The bytes of a PNG file. pixels: (height, width, channels), 8 bits a channel, row-major, sRGB;
/// channels is 1 (grey) or 3 (red, green, blue). ValueError on other channels or on a size that is
/// not positive, IoError on what libpng refuses.
std::string encode_png(const uint8_t* pixels, int64_t width, int64_t height, int channels);

/// Writes the same atomically; see io/file.h.
void write_png(const std::string& path, const uint8_t* pixels, int64_t width, int64_t height,
               int channels);

}  // namespace fovea
