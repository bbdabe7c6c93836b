// Flags that decide the bits of a run, kept in the metadata of its files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace fovea::examples {

using Metadata = std::map<std::string, std::string>;

/// The fields of a configuration by name: `RecordedFlags("glimpse").add("lr", c.lr)`. It refers to
/// the configuration, which must outlive it.
class RecordedFlags {
 public:
  explicit RecordedFlags(std::string program) : program_(std::move(program)) {}

  template <class T>
  RecordedFlags& add(std::string name, T& value) {
    fields_.push_back({std::move(name), &value, false});
    return *this;
  }
  /// One that a resumed run may have otherwise: where data lie, for how long to go on.
  template <class T>
  RecordedFlags& add_free(std::string name, T& value) {
    fields_.push_back({std::move(name), &value, true});
    return *this;
  }

  /// {"program": NAME, "flags": JSON}. IoError naming the flag whose text is not UTF-8.
  Metadata to_metadata() const;
  /// Sets the fields. IoError naming `path` when the metadata are not this program's.
  void read(const Metadata& metadata, const std::string& path) const;
  /// What makes this another run than `before`, as the flag and both values: "--lr is 0.1, was
  /// 0.001"; empty when it goes on with it.
  std::string conflict(const RecordedFlags& before) const;

 private:
  using Pointer = std::variant<bool*, int64_t*, uint64_t*, double*, std::string*>;
  struct Field {
    std::string name;
    Pointer value;
    bool free;
  };
  std::string program_;
  std::vector<Field> fields_;
};

}  // namespace fovea::examples
