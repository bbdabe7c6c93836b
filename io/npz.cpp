#include "fovea/io/npz.h"

#include <fmt/format.h>

#include <unordered_set>

#include "fovea/core/error.h"
#include "fovea/io/characters.h"
#include "fovea/io/file.h"
#include "fovea/io/npy.h"
#include "fovea/io/unexpected.h"
#include "fovea/io/zip.h"

namespace fovea {
namespace {

constexpr std::string_view kSuffix = ".npy";

bool is_utf8(const std::string& text) {
  try {
    (void)code_points(text);
    return true;
  } catch (const IoError&) {
    return false;
  }
}

void check_names(const TensorMap& map) {
  if (!map.metadata.empty()) {
    throw ValueError("write_npz: the map has metadata, which the format does not hold; clear it");
  }
  std::unordered_set<std::string_view> seen;
  for (const auto& entry : map.tensors) {
    const std::string& name = entry.first;
    const auto refuse = [&](std::string_view what) {
      throw ValueError(fmt::format("write_npz: the name {} {}", detail::quoted(name), what));
    };
    if (!seen.insert(name).second) refuse("occurs twice");
    if (name.find('\0') != name.npos) refuse("holds a zero byte, where other readers end it");
    if (name.size() + kSuffix.size() > 0xFFFF) refuse("is longer than 65531 bytes");
    if (!is_utf8(name)) refuse("is not UTF-8");
    if (!entry.second.defined()) refuse("names an undefined tensor");
  }
}

}  // namespace

void write_npz(const std::string& path, const TensorMap& map, bool compress) {
  check_names(map);
  AtomicFile file(path);
  zip::Writer archive(file);
  for (const auto& [name, tensor] : map.tensors) {
    archive.add(name + std::string(kSuffix), encode_npy(tensor),
                compress ? zip::kDeflated : zip::kStored);
  }
  archive.finish();
  file.commit();
}

TensorMap read_npz(const std::string& path) {
  const std::string file = read_file(path);
  const std::string where = fmt::format("read_npz: '{}'", path);
  TensorMap map;
  std::unordered_set<std::string> seen;
  std::string buffer;  // of what is deflated, one member after the other
  for (const zip::Member& member : zip::read_directory(file, where)) {
    std::string name = member.name;
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    if (!seen.insert(name).second) {
      detail::unexpected(where, "names that occur once", detail::quoted(name) + " twice");
    }
    const std::string whose = fmt::format("{}, tensor {}", where, detail::quoted(name));
    map.tensors.emplace_back(name,
                             decode_npy(zip::read_member(file, member, buffer, whose), whose));
  }
  return map;
}

}  // namespace fovea
