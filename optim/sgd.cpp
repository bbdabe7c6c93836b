#include "fovea/optim/sgd.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/ops/kernels/optim.h"

namespace fovea {
SGD::SGD(ParamGroups params, const SGDOptions& o)
    : Optimizer("SGD", std::move(params), o.lr, o.weight_decay,
                o.momentum == 0 ? std::vector<Slot>{} : std::vector<Slot>{{"momentum_buffer"}}),
      o_(o) {
  detail::check_hyper("SGD", "momentum", o.momentum, true);
  detail::check_hyper("SGD", "dampening", o.dampening);
  if (o.nesterov && (o.momentum == 0 || o.dampening != 0)) {
    throw ValueError(fmt::format(
        "SGD: nesterov with momentum = {}, dampening = {}; need momentum > 0 and dampening 0",
        o.momentum, o.dampening));
  }
}

void SGD::update(const Update& u, int64_t begin, int64_t end) const {
  const kernels::SgdStep step{.lr = u.lr,
                              .momentum = o_.momentum,
                              .dampening = o_.dampening,
                              .nesterov = o_.nesterov,
                              .weight_decay = u.weight_decay,
                              .first_step = u.step == 1};
  visit_floating(u.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* buffer = u.slots[0] ? static_cast<T*>(u.slots[0]) + begin : nullptr;
    kernels::sgd(static_cast<T*>(u.param) + begin, static_cast<const T*>(u.grad) + begin, buffer,
                 end - begin, step);
  });
}

}  // namespace fovea
