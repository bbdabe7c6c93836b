// The state of layers, optimisers and schedules as a list of named tensors, and what does not fit
// when one is loaded into the other.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fovea/core/tensor.h"

namespace fovea {

/// In the order in which visit() lists them.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// All that keeps a state from being loaded, collected before anything is changed.
struct StateDiff {
  std::vector<std::string> missing;     ///< names wanted but not given
  std::vector<std::string> extra;       ///< names given but not wanted
  std::vector<std::string> mismatched;  ///< "name: is [2] f32, need [3] f32", names given twice

  bool ok() const { return missing.empty() && extra.empty() && mismatched.empty(); }
  /// "missing: a, b; extra: c; mismatched: d: is ..." in one line.
  std::string str() const;
  /// Takes over the entries of `part`, each name behind `prefix`.
  void add(const std::string& prefix, const StateDiff& part);
};

/// Compares names, shapes and dtypes, in any order.
StateDiff compare_states(const NamedTensors& wanted, const NamedTensors& given);

/// Another name for a wanted tensor.
struct Alias {
  std::string name;
  std::string of;  ///< the name it is wanted under
};
/// The same where some tensors have several names, as tied ones do. One of them is enough; several
/// must hold the same bits.
StateDiff compare_states(const NamedTensors& wanted, const std::vector<Alias>& aliases,
                         const NamedTensors& given);
/// `given` with what is only given under another name under that it is wanted by.
NamedTensors under_first_names(const NamedTensors& given, const std::vector<Alias>& aliases);

/// Same shape, dtype and bits: NaN equals itself, and 0 differs from -0.
bool same_bits(const Tensor& a, const Tensor& b);

/// The tensor of that name, undefined when there is none.
Tensor find(const NamedTensors& list, const std::string& name);

/// Copies of the elements: a state that later training steps leave alone.
NamedTensors snapshot(const NamedTensors& state);

/// What a checkpoint can hold a part of.
class Stateful {
 public:
  Stateful() = default;
  Stateful(const Stateful&) = default;
  Stateful(Stateful&&) = default;
  Stateful& operator=(const Stateful&) = default;
  Stateful& operator=(Stateful&&) = default;
  virtual ~Stateful() = default;

  /// Name -> tensor. The tensors may share storage with the object: see snapshot().
  virtual NamedTensors state() const = 0;
  /// What keeps `given` from being loaded.
  virtual StateDiff check_state(const NamedTensors& given) const = 0;
  /// Copies the values. `given` has passed check_state().
  virtual void assign_state(const NamedTensors& given) = 0;

  /// check_state, then assign_state. ShapeError listing all missing, extra and mismatched names
  /// together; then nothing has changed.
  void load_state(const NamedTensors& given);
};

}  // namespace fovea
