#include "fovea/io/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "fovea/core/error.h"
#include "fovea/core/parallel.h"
#include "fovea/io/elements.h"
#include "fovea/io/gzip.h"

namespace fovea {
namespace {

constexpr uint8_t kUnsignedByte = 0x08;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw IoError(fmt::format("read_idx: '{}' {}", path, what));
}

std::string_view type_name(uint8_t code) {
  switch (code) {
    case 0x09:
      return "signed bytes";
    case 0x0B:
      return "16-bit integers";
    case 0x0C:
      return "32-bit integers";
    case 0x0D:
      return "32-bit floats";
    case 0x0E:
      return "64-bit floats";
    default:
      return "unknown";
  }
}

// What people have under the name of an IDX file when it is none.
void refuse_other_formats(const std::string& path, std::string_view bytes) {
  if (looks_gzipped(bytes)) {
    fail(path, "is still compressed after one decompression; gunzip it once");
  }
  const auto text = bytes.find_first_not_of(" \t\r\n");
  if (text != std::string_view::npos && bytes[text] == '<') {
    fail(path,
         "begins with '<': the download gave a web page, not data; fetch the file again from "
         "another mirror");
  }
  if (bytes.substr(0, 2) == "PK") fail(path, "is a zip archive; unzip it");
  if (bytes.substr(0, 8) == "version ") {
    fail(path, "is a Git LFS pointer, not the data; run git lfs pull");
  }
}

std::string hex_of(std::string_view bytes) {
  std::string s;
  for (char c : bytes) s += fmt::format("{}{:02X}", s.empty() ? "" : " ", static_cast<uint8_t>(c));
  return s;
}

}  // namespace

IdxData read_idx(const std::string& path) {
  const std::string file = read_maybe_gzip(path);
  refuse_other_formats(path, file);
  if (file.size() < 4) {
    fail(path, fmt::format("has {} bytes; an IDX file begins with 4 bytes: 00 00 type rank",
                           file.size()));
  }
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(file[i]); };
  if (byte(0) != 0 || byte(1) != 0) {
    fail(path, fmt::format("begins with {}; an IDX file begins with 00 00",
                           hex_of(std::string_view(file).substr(0, 4))));
  }
  if (byte(2) != kUnsignedByte) {
    fail(path, fmt::format("has elements of type {:02X} ({}); unsigned bytes (08) are expected",
                           byte(2), type_name(byte(2))));
  }
  const int rank = byte(3);
  if (rank < 1 || rank > kMaxRank) {
    fail(path, fmt::format("says rank {}; 1 to {} is expected", rank, kMaxRank));
  }
  const size_t header = 4 + 4 * static_cast<size_t>(rank);
  if (file.size() < header) {
    fail(path, fmt::format("has {} bytes; its header of rank {} alone takes {}", file.size(), rank,
                           header));
  }
  IdxData data;
  for (size_t i = 4; i < header; i += 4) {
    const int64_t size =
        int64_t{byte(i)} << 24 | byte(i + 1) << 16 | byte(i + 2) << 8 | byte(i + 3);
    data.shape.push_back(size);
  }
  const auto elements = detail::elements_of(data.shape);
  if (!elements) {
    fail(path,
         fmt::format("says shape {}, more elements than a file can hold; the header is damaged",
                     data.shape.str()));
  }
  const int64_t numel = *elements;
  const auto found = static_cast<int64_t>(file.size() - header);
  if (found != numel) {
    const int64_t item = data.shape[0] > 0 ? numel / data.shape[0] : 0;
    fail(path, fmt::format("says shape {}, which takes {} bytes after the header, but has {}{}; {}",
                           data.shape.str(), numel, found,
                           item > 0 ? fmt::format(" ({} of {} items)", found / item, data.shape[0])
                                    : std::string(),
                           found < numel ? "the file is cut off: fetch it again"
                                         : "bytes follow the data"));
  }
  data.bytes.assign(file.begin() + static_cast<std::ptrdiff_t>(header), file.end());
  return data;
}

Tensor idx_images(const std::string& path) {
  const IdxData data = read_idx(path);
  if (data.shape.rank() != 3) {
    fail(path,
         fmt::format("has shape {}; images have rank 3: count, height, width", data.shape.str()));
  }
  Tensor images = Tensor::empty(data.shape, f32);
  float* out = images.data<float>();
  parallel_for(images.numel(), grain_for(1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      out[i] = static_cast<float>(data.bytes[static_cast<size_t>(i)]) / 255.0f;
    }
  });
  return images;
}

Tensor idx_labels(const std::string& path) {
  const IdxData data = read_idx(path);
  if (data.shape.rank() != 1) {
    fail(path, fmt::format("has shape {}; labels have rank 1: count", data.shape.str()));
  }
  Tensor labels = Tensor::empty(data.shape, i64);
  std::copy(data.bytes.begin(), data.bytes.end(), labels.data<int64_t>());
  return labels;
}

}  // namespace fovea
