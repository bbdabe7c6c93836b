// Text as numbers, a character at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/core/tensor.h"

namespace fovea {

/// The code points of UTF-8 text. IoError naming `what` and the byte where it is none: cut off, too
/// long a form, a surrogate, beyond U+10FFFF.
std::vector<char32_t> code_points(std::string_view utf8, const std::string& what = "text");
std::string to_utf8(const std::vector<char32_t>& text);

/// The characters of a text, in the order of their code points; a character's number is its place.
class Characters {
 public:
  Characters() = default;
  /// Those that occur. IoError when it is not UTF-8.
  explicit Characters(std::string_view utf8, const std::string& what = "text");

  int64_t size() const { return static_cast<int64_t>(list_.size()); }
  /// i64 (T). ValueError naming the first character that is not among these.
  Tensor encode(std::string_view utf8) const;
  /// Of i64 ids of any shape, in order. IndexError outside [0, size).
  std::string decode(const Tensor& ids) const;
  /// All of them as one text, from which Characters() makes the same again.
  std::string text() const { return to_utf8(list_); }

 private:
  std::vector<char32_t> list_;  // sorted, distinct
};

}  // namespace fovea
