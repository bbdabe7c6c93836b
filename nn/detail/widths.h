// Widths of layers, checked. Not public.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "fovea/core/error.h"

namespace fovea::detail {

struct Width {
  const char* name;
  int64_t n;
};
/// ValueError in the name of the layer that names all of them unless each is at least 1.
inline void check_widths(const char* layer, std::initializer_list<Width> widths) {
  std::string list;
  bool good = true;
  for (const Width& w : widths) {
    list += fmt::format("{}{} is {}", list.empty() ? "" : ", ", w.name, w.n);
    good = good && w.n >= 1;
  }
  if (!good) throw ValueError(fmt::format("{}: {}; widths are at least 1", layer, list));
}

}  // namespace fovea::detail
