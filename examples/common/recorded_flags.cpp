#include "examples/common/recorded_flags.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fovea/core/error.h"
#include "fovea/io/characters.h"

namespace fovea::examples {

Metadata RecordedFlags::to_metadata() const {
  nlohmann::ordered_json flags;
  for (const Field& f : fields_) {
    if (const auto* text = std::get_if<std::string*>(&f.value)) code_points(**text, "--" + f.name);
    std::visit([&](const auto* value) { flags[f.name] = *value; }, f.value);
  }
  return {{"program", program_}, {"flags", flags.dump()}};
}

void RecordedFlags::read(const Metadata& metadata, const std::string& path) const {
  const auto program = metadata.find("program"), flags = metadata.find("flags");
  if (program == metadata.end() || program->second != program_ || flags == metadata.end()) {
    throw IoError(
        fmt::format("{} was not written by this program; name a checkpoint.safetensors", path));
  }
  if (flags->second.find('\0') != std::string::npos) {  // where the parser would stop
    throw IoError(fmt::format("{}: its flags cannot be read: they hold a zero byte", path));
  }
  try {
    const auto json = nlohmann::json::parse(flags->second);
    for (const Field& f : fields_) {
      // A file may be older than a flag that does not matter.
      if (f.free && !json.contains(f.name)) continue;
      std::visit([&](auto* value) { json.at(f.name).get_to(*value); }, f.value);
    }
  } catch (const nlohmann::json::exception& e) {
    throw IoError(fmt::format("{}: its flags cannot be read: {}", path, e.what()));
  }
}

std::string RecordedFlags::conflict(const RecordedFlags& before) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].free) continue;
    const std::string found = std::visit(
        [&](auto* now) {
          const auto* then = std::get<decltype(now)>(before.fields_[i].value);
          return *now == *then ? std::string()
                               : fmt::format("--{} is {}, was {}", fields_[i].name, *now, *then);
        },
        fields_[i].value);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace fovea::examples
