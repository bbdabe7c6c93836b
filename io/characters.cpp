#include "fovea/io/characters.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/core/error.h"
#include "fovea/core/utf8.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

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
    const detail::Character d = detail::first_character(utf8.substr(at));
    if (d.bytes == 0) {
      throw IoError(fmt::format("{} is not UTF-8: byte {} is 0x{:02x}; convert it, with iconv say",
                                what, at, static_cast<unsigned char>(utf8[at])));
    }
    list.push_back(d.code);
    at += d.bytes;
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
