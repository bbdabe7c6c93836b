// What all optimisers share: parameters by name, groups, learning rates, state.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "fovea/nn/module.h"

namespace fovea {

/// Parameters with hyperparameters of their own; what is not set is the optimiser's.
struct ParamGroup {
  NamedTensors params;
  std::optional<double> lr = {};
  std::optional<double> weight_decay = {};
};

/// What an optimiser trains, from whatever the caller has: a module, named tensors, plain tensors
/// (named "0", "1", ...), or groups.
struct ParamGroups {
  ParamGroups(const Module& m) : list{{m.named_parameters()}} {}   // NOLINT(google-explicit-*)
  ParamGroups(NamedTensors params) : list{{std::move(params)}} {}  // NOLINT
  ParamGroups(const Tensors& params);                              // NOLINT
  ParamGroups(std::initializer_list<Tensor> params) : ParamGroups(Tensors(params)) {}  // NOLINT
  ParamGroups(std::vector<ParamGroup> groups) : list(std::move(groups)) {}             // NOLINT
  std::vector<ParamGroup> list;
};

/// Moves leaves against their gradients. A tensor listed twice in a group (tied layers) is one
/// parameter, under its first name. Construction raises ValueError when two tensors share a name or
/// one tensor is in two groups, GraphError for a tensor that an operation made, DTypeError unless
/// f32 or f64, ShapeError for an undefined tensor or one that overlaps itself.
class Optimizer : public Stateful {
 public:
  /// One update of every parameter that has a gradient, in one parallel pass over fixed chunks of
  /// all of them. A parameter without a gradient, or a frozen one, keeps its value and its state,
  /// as in PyTorch. Raises the version of what it changes; the bits do not depend on the threads.
  void step();
  /// Forgets the gradients.
  void zero_grad() const;

  int64_t groups() const { return static_cast<int64_t>(groups_.size()); }
  double lr(int64_t group = 0) const;     ///< IndexError when there is no such group
  void set_lr(double lr);                 ///< of every group; ValueError unless >= 0
  void set_lr(double lr, int64_t group);  ///< of one
  Tensors parameters() const;

  /// "group.0.lr" f64, and for each parameter "NAME.step" i64 (how often it was moved) and, once it
  /// was, its moments: "NAME.exp_avg", ... Keyed by name: the order of parameters may change.
  NamedTensors state() const override;
  /// Refuses numbers that no run can have saved as well: a learning rate that is negative or not
  /// finite, a negative step, a negative second moment.
  StateDiff check_state(const NamedTensors& given) const override;
  void assign_state(const NamedTensors& given) override;

 protected:
  static constexpr int kMaxSlots = 2;

  /// One parameter in one step(): contiguous arrays of n elements of the dtype.
  struct Update {
    DType dtype;
    int64_t n;
    void* param;
    const void* grad;
    std::array<void*, kMaxSlots> slots;
    int64_t step;  ///< 1 the first time
    double lr, weight_decay;
  };

  /// An array that is kept for each parameter, zero at first.
  struct Slot {
    std::string name = {};
    bool squares = false;  ///< never negative, since its root is taken
  };
  Optimizer(const char* name, ParamGroups groups, double lr, double weight_decay,
            std::vector<Slot> slots);

  /// Updates elements [begin, end). Runs inside a parallel loop: no tensor operations.
  virtual void update(const Update& u, int64_t begin, int64_t end) const = 0;

 private:
  struct Param {
    std::string name;
    Tensor tensor;
    int64_t step = 0;
    std::array<Tensor, kMaxSlots> slots;  // undefined before the first step
  };
  struct Group {
    std::vector<Param> params;
    double lr, weight_decay;
  };
  void make_slots(Param& p) const;

  const char* name_;
  std::vector<Slot> slots_;
  std::vector<Group> groups_;
};

namespace detail {
/// ValueError unless value >= 0 (and below 1 where asked for).
void check_hyper(const char* op, const char* arg, double value, bool below_one = false);
}  // namespace detail

}  // namespace fovea
