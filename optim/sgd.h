// Stochastic gradient descent with momentum.
#pragma once

#include "fovea/optim/optimizer.h"

namespace fovea {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;      ///< mu, in [0, 1)
  double dampening = 0;     ///< tau
  double weight_decay = 0;  ///< w: adds w p to the gradient
  bool nesterov = false;    ///< needs momentum > 0 and dampening 0
};

/// As torch.optim.SGD:
///
///     g <- g + w p
///     b <- g in the first step, then mu b + (1 - tau) g          (momentum only)
///     p <- p - lr g without momentum, p - lr b with it, p - lr (g + mu b) with Nesterov's
///
/// State: "NAME.momentum_buffer" (b), with momentum. Sutskever 2013, "On the importance of
/// initialization and momentum". ValueError for options outside their range.
class SGD : public Optimizer {
 public:
  explicit SGD(ParamGroups params, const SGDOptions& o = {});

 private:
  void update(const Update& u, int64_t begin, int64_t end) const override;
  SGDOptions o_;
};

}  // namespace fovea
