// Dropout. Srivastava 2014.
#pragma once

#include "fovea/nn/module.h"

namespace fovea {

/// While training, zeroes elements with probability p and scales the rest by 1 / (1 - p); the
/// identity in eval. Numbers come from the default generator. ValueError unless 0 <= p <= 1.
class Dropout : public Module {
 public:
  double p;

  explicit Dropout(double p = 0.5);

  Tensor forward(const Tensor& x) const;
  Tensor operator()(const Tensor& x) const { return forward(x); }
  void visit(Visitor&) override {}
};

}  // namespace fovea
