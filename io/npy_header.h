// The header of a .npy file.
#pragma once

#include <string>
#include <string_view>

#include "fovea/core/shape.h"

namespace fovea::npy {

/// What a header says of the elements.
struct Header {
  std::string_view descr;  ///< the dtype, '<f4'; part of the text that was parsed
  bool fortran_order = false;
  Shape shape;
};

/// Parses the Python dict in a header: its three keys in any order, any white space between
/// tokens. IoError on anything else, structured dtypes, negative sizes and rank above 8 among it.
Header parse_header(std::string_view text, const std::string& where);

}  // namespace fovea::npy
