// Adam and AdamW.
#pragma once

#include "fovea/optim/optimizer.h"

namespace fovea {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  ///< w: adds w p to the gradient
};

/// As torch.optim.Adam; t counts the steps of each parameter:
///
///     g <- g + w p
///     m <- b1 m + (1 - b1) g
///     v <- b2 v + (1 - b2) g^2
///     p <- p - lr m^ / (sqrt(v^) + eps),   m^ = m / (1 - b1^t), v^ = v / (1 - b2^t)
///
/// State: "NAME.exp_avg" (m), "NAME.exp_avg_sq" (v). Kingma & Ba 2014, algorithm 1. ValueError for
/// options outside their range.
class Adam : public Optimizer {
 public:
  explicit Adam(ParamGroups params, const AdamOptions& o = {})
      : Adam("Adam", std::move(params), o, false) {}

 protected:
  Adam(const char* name, ParamGroups params, const AdamOptions& o, bool decoupled);

 private:
  void update(const Update& u, int64_t begin, int64_t end) const override;
  AdamOptions o_;
  bool decoupled_;
};

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;  ///< w: p <- (1 - lr w) p before the step
};

/// Adam whose weight decay is decoupled from the gradient: as torch.optim.AdamW. Loshchilov &
/// Hutter 2017, algorithm 2.
class AdamW : public Adam {
 public:
  explicit AdamW(ParamGroups params, const AdamWOptions& o = {})
      : Adam("AdamW", std::move(params), {o.lr, o.beta1, o.beta2, o.eps, o.weight_decay}, true) {}
};

}  // namespace fovea
