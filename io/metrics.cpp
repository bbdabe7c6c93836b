#include "fovea/io/metrics.h"

#include <nlohmann/json.hpp>

#include "fovea/io/file.h"

namespace fovea {

void Metrics::put(const std::string& key, Value v) {
  for (auto& [name, value] : entries_) {
    if (name == key) {
      value = std::move(v);
      return;
    }
  }
  entries_.emplace_back(key, std::move(v));
}

std::string Metrics::json() const {
  auto object = nlohmann::ordered_json::object();
  for (const auto& entry : entries_) {
    std::visit([&](const auto& v) { object[entry.first] = v; }, entry.second);
  }
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void Metrics::write(const std::string& path) const { write_file_atomically(path, json()); }

}  // namespace fovea
