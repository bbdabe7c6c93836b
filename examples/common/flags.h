// The flags of a program: those that every program has, and its own. CLI11 reads them; only
// flags.cpp includes it, which is most of what compiling a program costs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

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

/// What is wrong with the text of a value, or "".
using FlagCheck = std::function<std::string(const std::string&)>;
// Ranges. Unlike CLI11's own they refuse NaN and infinity.
FlagCheck above(double low, double high = 1e300);  ///< low < x <= high
FlagCheck between(double low, double high);        ///< low <= x <= high
FlagCheck at_least(int64_t low, int64_t high = int64_t{1} << 40);
FlagCheck one_of(std::vector<std::string> words);

/// One flag, to say more about it.
class Flag {
 public:
  explicit Flag(CLI::Option* option) : option_(option) {}
  const Flag& check(const FlagCheck& f) const;
  const Flag& type_name(const std::string& name) const;  ///< in --help: FILE, DIR

 private:
  CLI::Option* option_;
};

/// `Flags flags("What the program does"); flags.add("--lr", lr, "Learning rate").check(above(0));`
class Flags {
 public:
  explicit Flags(const std::string& what);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  void add_common(CommonFlags& flags);
  /// The value is the default, which --help shows; a bool is a flag without a value.
  Flag add(const std::string& name, bool& value, const std::string& what);
  Flag add(const std::string& name, int& value, const std::string& what);
  Flag add(const std::string& name, int64_t& value, const std::string& what);
  Flag add(const std::string& name, uint64_t& value, const std::string& what);
  Flag add(const std::string& name, double& value, const std::string& what);
  Flag add(const std::string& name, std::string& value, const std::string& what);
  /// Words between commas.
  Flag add(const std::string& name, std::vector<std::string>& value, const std::string& what);
  /// The heading in --help of the flags that are added from here on.
  void group(const std::string& name);
  /// The last words of --help.
  void footer(const std::string& text);

  /// --help prints and throws Exit{0}, anything wrong throws UsageError in one line. Then sets the
  /// number of threads. A program that counts neither epochs nor steps refuses --resume. Without
  /// show_help, false where --help was asked for: the values are set, but for a program that first
  /// takes its defaults from them.
  bool parse(int argc, char** argv, bool show_help = true);
  /// Whether the user gave it.
  bool given(const std::string& name) const;
  std::set<std::string> all_given() const;

 private:
  std::unique_ptr<CLI::App> app_;
  const CommonFlags* common_ = nullptr;
};

}  // namespace fovea::examples
