// The step of an LSTM.
#include "fovea/ops/kernels/recurrent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/recurrent_lstm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/recurrent-inl.h"
#include "fovea/ops/kernels/recurrent_macros.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void Forward(const RecurrentForward<T>& p) {
  const int64_t n = p.hidden;
  ForwardRows(p, 4, [&](const auto& row, auto d, int64_t j, const auto& memory) HWY_ATTR {
    const auto sum = [&](int64_t gate) HWY_ATTR {
      const int64_t at = gate * n + j;
      const auto a = hn::Add(memory.Load(d, row.planes + at), memory.Load(d, row.product + at));
      return hn::Add(a, memory.Load(d, p.bias + at));
    };
    const auto i = vmath::Sigmoid(d, sum(0)), f = vmath::Sigmoid(d, sum(1));
    const auto g = vmath::Tanh(d, sum(2)), o = vmath::Sigmoid(d, sum(3));
    const auto c = hn::MulAdd(f, memory.Load(d, row.c + j), hn::Mul(i, g));
    const auto h = hn::Mul(o, vmath::Tanh(d, c));
    memory.Store(d, i, row.planes + j);
    memory.Store(d, f, row.planes + n + j);
    memory.Store(d, g, row.planes + 2 * n + j);
    memory.Store(d, o, row.planes + 3 * n + j);
    memory.Store(d, c, row.c + j);
    memory.Store(d, h, row.h + j);
    memory.Store(d, c, row.y_c + j);
    memory.Store(d, h, row.y + j);
  });
}

template <class T>
HWY_INLINE void Backward(const RecurrentBackward<T>& p) {
  const int64_t n = p.hidden;
  BackwardRows(p, 4, 4, [&](const auto& row, auto d, int64_t j, const auto& memory) HWY_ATTR {
    const auto gate = [&](int64_t k) HWY_ATTR { return memory.Load(d, row.planes + k * n + j); };
    const auto i = gate(0), f = gate(1), g = gate(2), o = gate(3);
    const auto gh = hn::Add(memory.Load(d, row.gh + j), memory.Load(d, row.gy + j));
    const auto tanh_c = vmath::Tanh(d, memory.Load(d, row.after + j));
    const auto gc_after = hn::Add(memory.Load(d, row.gc + j), memory.Load(d, row.gy_c + j));
    const auto gc = hn::MulAdd(hn::Mul(gh, o), TanhSlope(d, tanh_c), gc_after);
    const auto store = [&](int64_t k, auto v) HWY_ATTR {
      memory.Store(d, v, row.gplanes + k * n + j);
      memory.Store(d, v, row.gproduct + k * n + j);
    };
    store(0, hn::Mul(hn::Mul(gc, g), SigmoidSlope(d, i)));
    store(1, hn::Mul(hn::Mul(gc, memory.Load(d, row.before + j)), SigmoidSlope(d, f)));
    store(2, hn::Mul(hn::Mul(gc, i), TanhSlope(d, g)));
    store(3, hn::Mul(hn::Mul(gh, tanh_c), SigmoidSlope(d, o)));
    memory.Store(d, hn::Mul(gc, f), row.gc + j);
    memory.Store(d, hn::Zero(d), row.gh + j);
  });
}

FOVEA_RECURRENT_BODY(lstm)

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

FOVEA_RECURRENT_EXPORT(lstm)

}  // namespace fovea::kernels
#endif  // HWY_ONCE
