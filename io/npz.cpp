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

namespace {

/// The array of a member, undefined when it is none.
Tensor read_array(std::string_view file, const zip::Member& member, std::string& buffer,
                  const std::string& where) {
  const bool named = member.name.ends_with(kSuffix);
  // What is no array may be locked, or packed in a way that is not read here.
  if (!named && !zip::readable(member)) return {};
  const std::string_view bytes = zip::read_member(file, member, buffer, where);
  if (!named && !looks_npy(bytes)) return {};
  return decode_npy(bytes, where);
}

}  // namespace

TensorMap read_npz(const std::string& path, std::vector<std::string>* refused) {
  const std::string file = read_file(path);
  const std::string where = fmt::format("read_npz: '{}'", path);
  const std::vector<zip::Member> members = zip::read_directory(file, where);
  TensorMap map;
  std::unordered_set<std::string> seen;
  std::string buffer;  // of what is deflated, one member after the other
  bool any = members.empty();
  for (const zip::Member& member : members) {
    std::string name = member.name;
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    const std::string whose = fmt::format("{}, tensor {}", where, detail::quoted(name));
    Tensor array;
    try {
      array = read_array(file, member, buffer, whose);
      if (array.defined() && !seen.insert(name).second) {
        detail::unexpected(where, "names that occur once", detail::quoted(name) + " twice");
      }
    } catch (const IoError& e) {
      if (refused == nullptr) throw;
      refused->emplace_back(e.what());
      any = true;
      continue;
    }
    if (!array.defined()) continue;
    any = true;
    map.tensors.emplace_back(std::move(name), std::move(array));
  }
  if (!any) {
    detail::unexpected(
        where, "an array among its members",
        fmt::format("{}, the first called {}", members.size(), detail::quoted(members[0].name)));
  }
  return map;
}

}  // namespace fovea
