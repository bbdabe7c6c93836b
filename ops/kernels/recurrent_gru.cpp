// The step of a GRU.
#include "fovea/ops/kernels/recurrent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/recurrent_gru.cpp"
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
  ForwardRows(p, 3, [&](const auto& row, auto d, int64_t j, const auto& memory) HWY_ATTR {
    const auto bias = [&](int64_t k) HWY_ATTR { return memory.Load(d, p.bias + k * n + j); };
    const auto input = [&](int64_t k) HWY_ATTR {
      return hn::Add(memory.Load(d, row.planes + k * n + j), bias(k));
    };
    const auto state = [&](int64_t k) HWY_ATTR { return memory.Load(d, row.product + k * n + j); };
    const auto r = vmath::Sigmoid(d, hn::Add(input(0), state(0)));
    const auto z = vmath::Sigmoid(d, hn::Add(input(1), state(1)));
    const auto s = hn::Add(state(2), bias(3));
    const auto m = vmath::Tanh(d, hn::MulAdd(r, s, input(2)));
    const auto h = hn::MulAdd(z, hn::Sub(memory.Load(d, row.h + j), m), m);
    memory.Store(d, r, row.planes + j);
    memory.Store(d, z, row.planes + n + j);
    memory.Store(d, m, row.planes + 2 * n + j);
    memory.Store(d, s, row.planes + 3 * n + j);
    memory.Store(d, h, row.h + j);
    memory.Store(d, h, row.y + j);
  });
}

template <class T>
HWY_INLINE void Backward(const RecurrentBackward<T>& p) {
  const int64_t n = p.hidden;
  BackwardRows(p, 3, 4, [&](const auto& row, auto d, int64_t j, const auto& memory) HWY_ATTR {
    const auto plane = [&](int64_t k) HWY_ATTR { return memory.Load(d, row.planes + k * n + j); };
    const auto r = plane(0), z = plane(1), m = plane(2), s = plane(3);
    const auto g = hn::Add(memory.Load(d, row.gh + j), memory.Load(d, row.gy + j));
    const auto kept = hn::Mul(g, z);
    const auto gm = hn::Mul(hn::Sub(g, kept), TanhSlope(d, m));
    const auto gr = hn::Mul(hn::Mul(gm, s), SigmoidSlope(d, r));
    const auto gz =
        hn::Mul(hn::Mul(g, hn::Sub(memory.Load(d, row.before + j), m)), SigmoidSlope(d, z));
    const auto gs = hn::Mul(gm, r);
    memory.Store(d, gr, row.gplanes + j);
    memory.Store(d, gz, row.gplanes + n + j);
    memory.Store(d, gm, row.gplanes + 2 * n + j);
    memory.Store(d, gs, row.gplanes + 3 * n + j);
    memory.Store(d, gr, row.gproduct + j);
    memory.Store(d, gz, row.gproduct + n + j);
    memory.Store(d, gs, row.gproduct + 2 * n + j);
    memory.Store(d, kept, row.gh + j);
  });
}

FOVEA_RECURRENT_BODY(gru)

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

FOVEA_RECURRENT_EXPORT(gru)

}  // namespace fovea::kernels
#endif  // HWY_ONCE
