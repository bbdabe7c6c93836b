// The 16-bit floats of files. Every value of both is a float. Not public.
#pragma once

#include <bit>
#include <cstdint>

namespace fovea::detail {

/// IEEE binary16: 1 bit of sign, 5 of exponent, 10 of fraction.
struct Half {
  uint16_t bits;
  explicit operator float() const {
    const uint32_t sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    if (rest < 0x0400) {  // zero and subnormals: fraction * 2^-24, exact in f32
      return std::bit_cast<float>(sign |
                                  std::bit_cast<uint32_t>(static_cast<float>(rest) * 0x1p-24f));
    }
    const uint32_t bias = rest < 0x7c00 ? 127 - 15 : 255 - 31;  // the latter: infinities and NaN
    return std::bit_cast<float>(sign | ((rest << 13) + (bias << 23)));
  }
};

/// bfloat16: the upper half of a float.
struct BFloat16 {
  uint16_t bits;
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

}  // namespace fovea::detail
