// Are the gradients right? Analytic gradients against central differences, in float64.
//
// The loss is sum(w * y) with random weights w: a plain sum cannot see a wrong softmax, whose
// gradient under it is 0. Every element of every input is moved. The default generator is restarted
// before each evaluation, so that random operations (dropout, sampling) replay the same numbers.
#pragma once

#include <functional>
#include <string>

#include "fovea/core/tensor.h"

namespace fovea {

struct GradcheckOptions {
  double step =
      5e-4;  ///< h of the four-point difference (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h
  double tolerance = 1e-7;  ///< largest relative error that passes (gradgradcheck: use 1e-6)
  uint64_t seed = 1;        ///< of the weights and of the generator
};

struct GradcheckReport {
  bool ok = true;
  double error = 0;     ///< largest relative error seen: |a - n| / max(|a|, |n|, floor),
                        ///< floor = max(0.1 max |a|, 1e-3 max(1, |loss|))
  std::string message;  ///< when it failed: input, index, analytic and numeric value
  // Where that error was: d loss / d inputs[input][element]. Input -1: nothing was checked.
  int64_t input = -1;
  int64_t element = 0;  ///< in row-major order
  double analytic = 0, numeric = 0;
  explicit operator bool() const { return ok; }
};

/// A function of tensors to one tensor of any shape.
using TensorFunction = std::function<Tensor(const Tensors&)>;

/// Inputs that require a gradient must be f64 and must not overlap themselves (an expanded tensor
/// moves several elements at once): DTypeError, GraphError. Kinks must stay 2 * step away. Elements
/// are moved in place and restored. A NaN in any gradient fails.
GradcheckReport gradcheck(const TensorFunction& f, const Tensors& inputs,
                          const GradcheckOptions& options = {});

/// The same for the gradient of f: differentiates sum_i <w_i, df/dx_i (upstream v)> with respect to
/// the inputs and v.
GradcheckReport gradgradcheck(const TensorFunction& f, const Tensors& inputs,
                              const GradcheckOptions& options = {.tolerance = 1e-6});

}  // namespace fovea
