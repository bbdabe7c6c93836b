// The numbers a program leaves behind: an ordered JSON object, one key a result.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace fovea {

/// A mean over samples that arrive in batches of different sizes: sums and counts, not means of
/// means.
class Mean {
 public:
  void add(double sum, int64_t count) { sum_ += sum, count_ += count; }
  double value() const { return sum_ / static_cast<double>(count_); }  ///< NaN over nothing
  int64_t count() const { return count_; }

 private:
  double sum_ = 0;
  int64_t count_ = 0;
};

/// `metrics.set("accuracy", 0.9871); metrics.write("out/metrics.json");`
class Metrics {
 public:
  using Value = std::variant<bool, int64_t, double, std::string, std::vector<double>>;

  /// Keys keep the order in which they were first set; setting again replaces the value.
  template <class T>
  requires std::is_arithmetic_v<T>
  void set(const std::string& key, T v) {
    if constexpr (std::is_same_v<T, bool>) {
      put(key, v);
    } else if constexpr (std::is_floating_point_v<T>) {
      put(key, static_cast<double>(v));
    } else {
      put(key, static_cast<int64_t>(v));
    }
  }
  void set(const std::string& key, std::string v) { put(key, std::move(v)); }
  void set(const std::string& key, const char* v) { put(key, std::string(v)); }
  void set(const std::string& key, std::vector<double> v) { put(key, std::move(v)); }

  /// NaN and infinities, which JSON does not have, become null. Text that is not UTF-8 keeps its
  /// readable part.
  std::string json() const;
  /// Writes json() atomically; see io/file.h.
  void write(const std::string& path) const;

 private:
  void put(const std::string& key, Value v);
  std::vector<std::pair<std::string, Value>> entries_;
};

}  // namespace fovea
