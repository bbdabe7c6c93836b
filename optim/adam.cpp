#include "fovea/optim/adam.h"

#include <cmath>

#include "fovea/ops/kernels/optim.h"

namespace fovea {

Adam::Adam(const char* name, ParamGroups params, const AdamOptions& o, bool decoupled)
    : Optimizer(name, std::move(params), o.lr, o.weight_decay, {{"exp_avg"}, {"exp_avg_sq", true}}),
      o_(o),
      decoupled_(decoupled) {
  detail::check_hyper(name, "beta1", o.beta1, true);
  detail::check_hyper(name, "beta2", o.beta2, true);
  detail::check_hyper(name, "eps", o.eps);
}

void Adam::update(const Update& u, int64_t begin, int64_t end) const {
  const double t = static_cast<double>(u.step);
  const kernels::AdamStep step{.lr = u.lr,
                               .beta1 = o_.beta1,
                               .beta2 = o_.beta2,
                               .eps = o_.eps,
                               .weight_decay = u.weight_decay,
                               .decoupled = decoupled_,
                               .bias1 = 1 - std::pow(o_.beta1, t),
                               .bias2 = 1 - std::pow(o_.beta2, t)};
  visit_floating(u.dtype, [&](auto zero) {
    using T = decltype(zero);
    kernels::adam(static_cast<T*>(u.param) + begin, static_cast<const T*>(u.grad) + begin,
                  static_cast<T*>(u.slots[0]) + begin, static_cast<T*>(u.slots[1]) + begin,
                  end - begin, step);
  });
}

}  // namespace fovea
