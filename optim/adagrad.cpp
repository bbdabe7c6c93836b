#include "fovea/optim/adagrad.h"

#include <algorithm>

#include "fovea/ops/kernels/optim.h"

namespace fovea {

Adagrad::Adagrad(ParamGroups params, const AdagradOptions& o)
    : Optimizer("Adagrad", std::move(params), o.lr, o.weight_decay, {{"sum", true}}), o_(o) {
  detail::check_hyper("Adagrad", "lr_decay", o.lr_decay);
  detail::check_hyper("Adagrad", "initial_accumulator", o.initial_accumulator);
  detail::check_hyper("Adagrad", "eps", o.eps);
}

void Adagrad::update(const Update& u, int64_t begin, int64_t end) const {
  const kernels::RootStep step{.lr = u.lr / (1 + static_cast<double>(u.step - 1) * o_.lr_decay),
                               .keep = 1,
                               .add = 1,
                               .eps = o_.eps,
                               .weight_decay = u.weight_decay};
  visit_floating(u.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* v = static_cast<T*>(u.slots[0]) + begin;
    if (u.step == 1) std::fill_n(v, end - begin, static_cast<T>(o_.initial_accumulator));
    kernels::root_step(static_cast<T*>(u.param) + begin, static_cast<const T*>(u.grad) + begin, v,
                       end - begin, step);
  });
}

}  // namespace fovea
