#include "fovea/optim/rmsprop.h"

#include "fovea/ops/kernels/optim.h"

namespace fovea {

RMSprop::RMSprop(ParamGroups params, const RMSpropOptions& o)
    : Optimizer("RMSprop", std::move(params), o.lr, o.weight_decay, {{"square_avg", true}}), o_(o) {
  detail::check_hyper("RMSprop", "alpha", o.alpha, true);
  detail::check_hyper("RMSprop", "eps", o.eps);
}

void RMSprop::update(const Update& u, int64_t begin, int64_t end) const {
  const kernels::RootStep step{.lr = u.lr,
                               .keep = o_.alpha,
                               .add = 1 - o_.alpha,
                               .eps = o_.eps,
                               .weight_decay = u.weight_decay};
  visit_floating(u.dtype, [&](auto zero) {
    using T = decltype(zero);
    kernels::root_step(static_cast<T*>(u.param) + begin, static_cast<const T*>(u.grad) + begin,
                       static_cast<T*>(u.slots[0]) + begin, end - begin, step);
  });
}

}  // namespace fovea
