// Adagrad. Duchi, Hazan & Singer 2011, "Adaptive subgradient methods for online learning".
#pragma once

#include "fovea/optim/optimizer.h"

namespace fovea {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;         ///< w: adds w p to the gradient
  double initial_accumulator = 0;  ///< v before the first step
  double eps = 1e-10;
};

/// As torch.optim.Adagrad; t = 1, 2, ... counts the steps of each parameter:
///
///     g <- g + w p
///     v <- v + g^2
///     p <- p - lr / (1 + (t - 1) lr_decay) g / (sqrt(v) + eps)
///
/// State: "NAME.sum" (v). ValueError for options outside their range.
class Adagrad : public Optimizer {
 public:
  explicit Adagrad(ParamGroups params, const AdagradOptions& o = {});

 private:
  void update(const Update& u, int64_t begin, int64_t end) const override;
  AdagradOptions o_;
};

}  // namespace fovea
