#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "fovea/core/error.h"
#include "fovea/io/elements.h"
#include "fovea/io/file.h"
#include "fovea/io/half.h"
#include "fovea/io/safetensors.h"
#include "fovea/io/unexpected.h"

namespace fovea {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;  // the reference implementation's limit
constexpr size_t kLengthBytes = 8;

/// A dtype of the format, and what it becomes here.
struct StoredType {
  std::string_view name;
  int64_t width;
  DType dtype;
};
constexpr StoredType kStoredTypes[] = {{"F32", 4, f32},      {"F64", 8, f64}, {"I64", 8, i64},
                                       {"BOOL", 1, boolean}, {"F16", 2, f32}, {"BF16", 2, f32},
                                       {"I32", 4, i64},      {"U8", 1, i64}};

/// One checked entry of the header.
struct Entry {
  std::string name;
  const StoredType* type = nullptr;
  Shape shape;
  int64_t begin = 0, end = 0;
};

/// Raises errors that name the file and, inside an entry, the tensor.
struct Complaint {
  const std::string& path;
  std::string tensor = {};
  [[noreturn]] void operator()(const std::string& what) const {
    const std::string place =
        tensor.empty() ? "" : fmt::format(", tensor '{}'", detail::shown(tensor));
    throw IoError(fmt::format("read_safetensors: '{}'{}: {}", path, place, what));
  }
};

/// Parses the header and records the names in their order: the parser alone would drop the order
/// and keep the last of two equal keys.
json parse_header(std::string_view text, std::vector<std::string>& names, const Complaint& fail) {
  if (text.empty() || text.front() != '{') fail("the header is not a JSON object");
  // The parser takes a zero byte for the end of the text and looks no further.
  if (const size_t zero = text.find('\0'); zero != text.npos) {
    fail(fmt::format("the header is not valid JSON: byte {} of {} is zero", zero, text.size()));
  }
  std::vector<std::unordered_set<std::string>> open;  // keys of the objects being parsed
  size_t depth = 0;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    using Event = json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (++depth > 3) fail("the header is nested deeper than the format");
      open.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      --depth;
      open.pop_back();
    } else if (event == Event::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (!open.back().insert(key).second)
        fail(fmt::format("the key '{}' occurs twice", detail::shown(key)));
      if (depth == 1) names.push_back(key);
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception& e) {
    fail(fmt::format("the header is not valid JSON: {}", e.what()));
  }
}

int64_t natural(const json& value, const char* what, const Complaint& fail) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > uint64_t{INT64_MAX}) {
    fail(fmt::format("{} holds {}; a whole number from 0 is expected", what,
                     detail::shown(value.dump())));
  }
  return value.get<int64_t>();
}

Entry parse_entry(const std::string& name, const json& value, int64_t data_bytes,
                  const Complaint& fail) {
  Entry e;
  e.name = name;
  const auto is = [&](const char* key, json::value_t type) {
    return value.contains(key) && value[key].type() == type;
  };
  if (!value.is_object() || value.size() != 3 || !is("dtype", json::value_t::string) ||
      !is("shape", json::value_t::array) || !is("data_offsets", json::value_t::array)) {
    fail("its entry is not {\"dtype\": text, \"shape\": list, \"data_offsets\": list}");
  }
  const auto& dtype = value["dtype"].get_ref<const std::string&>();
  e.type = std::find_if(std::begin(kStoredTypes), std::end(kStoredTypes),
                        [&](const StoredType& t) { return t.name == dtype; });
  if (e.type == std::end(kStoredTypes)) {
    fail(fmt::format("dtype {}; F64, F32, F16, BF16, I64, I32, U8 and BOOL are read",
                     detail::shown(dtype)));
  }
  const json& shape = value["shape"];
  if (shape.size() > kMaxRank) {
    fail(fmt::format("rank {} is above the limit of {}", shape.size(), kMaxRank));
  }
  for (const json& size : shape) e.shape.push_back(natural(size, "shape", fail));
  const auto numel = detail::elements_of(e.shape);
  if (!numel) fail(fmt::format("shape {} has more elements than a file can hold", e.shape.str()));
  const int64_t bytes = *numel * e.type->width;

  const json& offsets = value["data_offsets"];
  if (offsets.size() != 2) fail("data_offsets is not a pair of numbers");
  e.begin = natural(offsets[0], "data_offsets", fail);
  e.end = natural(offsets[1], "data_offsets", fail);
  if (e.begin > e.end || e.end > data_bytes) {
    fail(fmt::format("data_offsets [{}, {}] are out of range; the file holds {} bytes of data",
                     e.begin, e.end, data_bytes));
  }
  if (e.end - e.begin != bytes) {
    fail(fmt::format("shape {} of {} takes {} bytes, its data_offsets [{}, {}] hold {}",
                     e.shape.str(), dtype, bytes, e.begin, e.end, e.end - e.begin));
  }
  return e;
}

/// In order of their offsets, the entries must cover the data exactly.
void check_cover(const std::vector<Entry>& entries, int64_t data_bytes, const std::string& path) {
  std::vector<const Entry*> sorted;
  sorted.reserve(entries.size());
  for (const Entry& e : entries) sorted.push_back(&e);
  std::sort(sorted.begin(), sorted.end(), [](const Entry* a, const Entry* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
  });
  int64_t at = 0;
  const Entry* before = nullptr;
  for (const Entry* e : sorted) {
    if (e->begin < at) {
      Complaint{path, e->name}(
          fmt::format("its data overlap those of tensor '{}'", detail::shown(before->name)));
    }
    if (e->begin > at) {
      Complaint{path,
                e->name}(fmt::format("a hole of {} bytes lies before its data", e->begin - at));
    }
    at = e->end;
    before = e;
  }
  if (at != data_bytes) {
    Complaint{path}(fmt::format("{} bytes follow the data of the last tensor", data_bytes - at));
  }
}

template <class From, class To>
void convert(const char* from, const Tensor& to) {
  To* out = to.data<To>();
  for (int64_t i = 0; i < to.numel(); ++i) {
    From v;
    std::memcpy(&v, from + static_cast<size_t>(i) * sizeof(From), sizeof(From));
    out[i] = static_cast<To>(v);
  }
}

Tensor load(const Entry& e, const char* data, const Complaint& fail) {
  Tensor t = Tensor::empty(e.shape, e.type->dtype);
  const char* from = data + e.begin;
  const std::string_view type = e.type->name;
  if (type == "F16") {
    convert<detail::Half, float>(from, t);
  } else if (type == "BF16") {
    convert<detail::BFloat16, float>(from, t);
  } else if (type == "I32") {
    convert<int32_t, int64_t>(from, t);
  } else if (type == "U8") {
    convert<uint8_t, int64_t>(from, t);
  } else {
    if (t.numel() > 0) std::memcpy(t.raw(), from, static_cast<size_t>(e.end - e.begin));
    if (type == "BOOL") {
      const auto* bits = t.data<uint8_t>();
      const auto* bad = std::find_if(bits, bits + t.numel(), [](uint8_t b) { return b > 1; });
      if (bad != bits + t.numel()) {
        fail(fmt::format("element {} is the byte {}; BOOL is 0 or 1", bad - bits, *bad));
      }
    }
  }
  return t;
}

}  // namespace

const Tensor* TensorMap::find(std::string_view name) const {
  const auto it = std::find_if(tensors.begin(), tensors.end(),
                               [&](const auto& entry) { return entry.first == name; });
  return it == tensors.end() ? nullptr : &it->second;
}

TensorMap read_safetensors(const std::string& path) {
  const std::string file = read_file(path);
  const Complaint fail{path};
  if (file.size() < kLengthBytes) {
    fail(fmt::format("has {} bytes; a safetensors file begins with 8 bytes of header length",
                     file.size()));
  }
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  if (length > kMaxHeader) {
    fail(fmt::format("says a header of {} bytes, above the limit of {}; is it a safetensors file?",
                     length, kMaxHeader));
  }
  if (length > file.size() - kLengthBytes) {
    fail(fmt::format("says a header of {} bytes, but {} follow; the file is cut off", length,
                     file.size() - kLengthBytes));
  }
  std::vector<std::string> names;
  const json header =
      parse_header(std::string_view(file).substr(kLengthBytes, length), names, fail);
  const char* data = file.data() + kLengthBytes + length;
  const auto data_bytes = static_cast<int64_t>(file.size() - kLengthBytes - length);

  TensorMap map;
  std::vector<Entry> entries;
  for (const std::string& name : names) {
    const json& value = header[name];
    if (name != "__metadata__") {
      entries.push_back(parse_entry(name, value, data_bytes, Complaint{path, name}));
      continue;
    }
    if (!value.is_object()) fail("__metadata__ is not an object of texts");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) fail(fmt::format("__metadata__ '{}' is not text", detail::shown(key)));
      map.metadata.emplace(key, text.get<std::string>());
    }
  }
  check_cover(entries, data_bytes, path);
  for (const Entry& e : entries) {
    map.tensors.emplace_back(e.name, load(e, data, Complaint{path, e.name}));
  }
  return map;
}

}  // namespace fovea
