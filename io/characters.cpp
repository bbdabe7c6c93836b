#include "fovea/io/characters.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

// How many bytes a character has that begins with this one; 0 when none does.
int length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xf0 && first < 0xf5) return 4;
  return 0;
}

// The character at the start of the text, 0 bytes long when there is none. Unicode 15, table 3-7.
struct Decoded {
  char32_t value = 0;
  int bytes = 0;
};
Decoded first_of(std::string_view text) {
  const auto byte = [&](int i) { return static_cast<unsigned char>(text[static_cast<size_t>(i)]); };
  const int n = length_of(byte(0));
  if (n == 0 || static_cast<size_t>(n) > text.size()) return {};
  char32_t c = n == 1 ? byte(0) : byte(0) & (0x7f >> n);
  for (int i = 1; i < n; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    c = c << 6 | (byte(i) & 0x3f);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = c >= 0xd800 && c < 0xe000;
  if (c < kLeast[n] || surrogate || c > 0x10ffff) return {};
  return {c, n};
}

void append(std::string& s, char32_t c) {
  const auto put = [&s](char32_t bits) { s += static_cast<char>(bits); };
  const auto tail = [&](int shift) { put(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    put(0xf0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

std::vector<char32_t> code_points(std::string_view utf8, const std::string& what) {
  std::vector<char32_t> list;
  list.reserve(utf8.size());
  for (size_t at = 0; at < utf8.size();) {
    const Decoded d = first_of(utf8.substr(at));
    if (d.bytes == 0) {
      throw IoError(fmt::format("{} is not UTF-8: byte {} is 0x{:02x}; convert it, with iconv say",
                                what, at, static_cast<unsigned char>(utf8[at])));
    }
    list.push_back(d.value);
    at += static_cast<size_t>(d.bytes);
  }
  return list;
}

std::string to_utf8(const std::vector<char32_t>& text) {
  std::string s;
  s.reserve(text.size());
  for (char32_t c : text) append(s, c);
  return s;
}

Characters::Characters(std::string_view utf8, const std::string& what)
    : list_(code_points(utf8, what)) {
  std::sort(list_.begin(), list_.end());
  list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
}

Tensor Characters::encode(std::string_view utf8) const {
  const std::vector<char32_t> text = code_points(utf8);
  const Tensor ids = Tensor::empty({static_cast<int64_t>(text.size())}, i64);
  auto* out = ids.data<int64_t>();
  for (const char32_t c : text) {
    const auto at = std::lower_bound(list_.begin(), list_.end(), c);
    if (at == list_.end() || *at != c) {
      throw ValueError(fmt::format("Characters: '{}' (U+{:04X}) is none of the {} known characters",
                                   to_utf8({c}), static_cast<uint32_t>(c), size()));
    }
    *out++ = at - list_.begin();
  }
  return ids;
}

std::string Characters::decode(const Tensor& ids) const {
  std::string s;
  for (const int64_t id : ids.to_vector<int64_t>()) {
    if (id < 0 || id >= size()) {
      throw IndexError(
          fmt::format("Characters: id {} is outside [0, {}), the known characters", id, size()));
    }
    append(s, list_[static_cast<size_t>(id)]);
  }
  return s;
}

}  // namespace fovea
