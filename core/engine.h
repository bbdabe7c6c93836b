// Reverse-mode differentiation: backward() and grad().
#pragma once

#include <optional>

#include "fovea/core/tensor.h"

namespace fovea {

struct GradOptions {
  bool create_graph = false;              ///< record the backward pass, to differentiate it again
  std::optional<bool> retain_graph = {};  ///< keep what was saved; default: as create_graph
  bool allow_unused = false;  ///< an input y does not depend on gives an undefined tensor
  Tensor upstream = {};       ///< dL/dy; needed unless y has one element
};

/// dy/dx for each x of xs (leaf or not), without touching any .grad(). GraphError when y requires
/// no gradient, when an x was not used (unless allowed), or when the graph was already released.
Tensors grad(const Tensor& y, const Tensors& xs, const GradOptions& options = {});

/// Adds dy/dleaf to .grad() of every leaf. An exception on the way leaves every .grad() untouched.
void backward(const Tensor& y, const GradOptions& options = {});

/// Inside this scope every result and every gradient is looked at, and the first NaN raises a
/// GraphError naming the operation that made it. Infinities are legal (-inf logits) unless asked
/// for.
class AnomalyMode {
 public:
  struct Options {
    bool infinite = false;  ///< infinities raise as well
  };
  AnomalyMode() : AnomalyMode(Options{}) {}
  explicit AnomalyMode(Options options);
  ~AnomalyMode();
  AnomalyMode(const AnomalyMode&) = delete;
  AnomalyMode& operator=(const AnomalyMode&) = delete;

 private:
  bool before_, before_infinite_;
};

}  // namespace fovea
