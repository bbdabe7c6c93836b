#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "fovea/core/error.h"
#include "fovea/io/file.h"
#include "fovea/io/safetensors.h"

namespace fovea {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they stand");

using nlohmann::ordered_json;

const char* dtype_name(DType t) {
  switch (t) {
    case DType::boolean:
      return "BOOL";
    case DType::i64:
      return "I64";
    case DType::f32:
      return "F32";
    default:
      return "F64";
  }
}

void check(const TensorMap& map) {
  std::unordered_set<std::string_view> seen;
  for (const auto& [name, tensor] : map.tensors) {
    if (name == "__metadata__") {
      throw ValueError(
          "write_safetensors: a tensor is named __metadata__, which the format keeps "
          "for text; rename it");
    }
    if (!seen.insert(name).second) {
      throw ValueError(fmt::format("write_safetensors: the name '{}' occurs twice", name));
    }
    if (!tensor.defined()) {
      throw ValueError(fmt::format("write_safetensors: tensor '{}' is undefined", name));
    }
  }
}

/// The tensors by falling element size: what follows an aligned one is aligned.
std::vector<size_t> data_order(const TensorMap& map) {
  std::vector<size_t> order(map.tensors.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return item_size(map.tensors[a].second.dtype()) > item_size(map.tensors[b].second.dtype());
  });
  return order;
}

std::string header(const TensorMap& map, const std::vector<size_t>& order) {
  std::vector<int64_t> begin(map.tensors.size());
  int64_t at = 0;
  for (size_t i : order) {
    const Tensor& t = map.tensors[i].second;
    begin[i] = at;
    at += t.numel() * item_size(t.dtype());
  }
  // Built entry by entry: an ordered JSON object searches all its keys at each insertion.
  std::string text = "{";
  if (!map.metadata.empty()) text += "\"__metadata__\":" + ordered_json(map.metadata).dump();
  for (size_t i = 0; i < map.tensors.size(); ++i) {
    const auto& [name, t] = map.tensors[i];
    ordered_json entry;
    entry["dtype"] = dtype_name(t.dtype());
    entry["shape"] = std::vector<int64_t>(t.shape().begin(), t.shape().end());
    entry["data_offsets"] = {begin[i], begin[i] + t.numel() * item_size(t.dtype())};
    if (text.size() > 1) text += ",";
    text += ordered_json(name).dump() + ":" + entry.dump();
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

void write_elements(AtomicFile& file, const Tensor& t) {
  const auto width = static_cast<size_t>(item_size(t.dtype()));
  if (t.is_contiguous()) {
    file.write(t.raw(), static_cast<size_t>(t.numel()) * width);
    return;
  }
  const auto c = collapse<1>(t.shape(), {&t.strides()});
  const int64_t step = c.strides[0][c.rank - 1] * static_cast<int64_t>(width);
  std::string block;
  for (int64_t r = 0; r < c.rows; ++r) {
    const char* p = t.raw() + c.row_offsets(r)[0] * static_cast<int64_t>(width);
    for (int64_t i = 0; i < c.row_length(); ++i) block.append(p + i * step, width);
    if (block.size() >= size_t{1} << 20 || r + 1 == c.rows) {
      file.write(block);
      block.clear();
    }
  }
}

}  // namespace

void write_safetensors(const std::string& path, const TensorMap& map) {
  check(map);
  const auto order = data_order(map);
  std::string text;
  try {
    text = header(map, order);
  } catch (const nlohmann::json::exception& e) {
    throw ValueError(
        fmt::format("write_safetensors: a name or metadata text is not UTF-8: {}", e.what()));
  }
  const uint64_t length = text.size();
  AtomicFile file(path);
  file.write(&length, sizeof length);
  file.write(text);
  for (size_t i : order) write_elements(file, map.tensors[i].second);
  file.commit();
}

}  // namespace fovea
