// The flags that every program has, and checks that CLI11 lacks. Only .cpp files include CLI11.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fovea::examples {

/// --seed --threads --out --epochs or --steps --resume --quiet; CLI11 adds --help. A program sets
/// its defaults first, and of `epochs` and `steps` the one it counts by.
struct CommonFlags {
  uint64_t seed = 1;
  int threads = 0;  ///< 0: as many as there are processors
  std::string out = "out";
  int64_t epochs = 0;
  int64_t steps = 0;
  std::string resume = {};  ///< a checkpoint to go on from
  bool quiet = false;
};

void add_common_flags(CLI::App& app, CommonFlags& flags);

/// Parses; --help prints and throws Exit{0}, anything wrong throws UsageError in one line. Then
/// sets the number of threads.
void parse_flags(CLI::App& app, int argc, char** argv, const CommonFlags& flags);

// Ranges for CLI11's Option::check. Unlike its own they refuse NaN and infinity.
using FlagCheck = std::function<std::string(const std::string&)>;
FlagCheck above(double low);                 ///< low < x
FlagCheck between(double low, double high);  ///< low <= x <= high
FlagCheck at_least(int64_t low, int64_t high = int64_t{1} << 40);

}  // namespace fovea::examples
