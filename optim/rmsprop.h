// RMSprop. Tieleman & Hinton 2012, lecture 6e of "Neural networks for machine learning".
#pragma once

#include "fovea/optim/optimizer.h"

namespace fovea {

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;  ///< in [0, 1)
  double eps = 1e-8;
  double weight_decay = 0;  ///< w: adds w p to the gradient
};

/// As torch.optim.RMSprop without momentum:
///
///     g <- g + w p
///     v <- a v + (1 - a) g^2
///     p <- p - lr g / (sqrt(v) + eps)
///
/// State: "NAME.square_avg" (v). ValueError for options outside their range.
class RMSprop : public Optimizer {
 public:
  explicit RMSprop(ParamGroups params, const RMSpropOptions& o = {});

 private:
  void update(const Update& u, int64_t begin, int64_t end) const override;
  RMSpropOptions o_;
};

}  // namespace fovea
