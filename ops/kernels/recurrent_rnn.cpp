// The step of an Elman network.
#include "fovea/ops/kernels/recurrent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/recurrent_rnn.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/recurrent-inl.h"
#include "fovea/ops/kernels/recurrent_macros.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

struct ByTanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return vmath::Tanh(d, a);
  }
  template <class D, class V>
  HWY_INLINE V Back(D d, V h, V g) const {
    return hn::Mul(g, TanhSlope(d, h));
  }
};
struct ByRelu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return vmath::AtLeast(d, a, 0.0);
  }
  template <class D, class V>
  HWY_INLINE V Back(D d, V h, V g) const {
    return hn::IfThenElseZero(hn::Gt(h, hn::Zero(d)), g);
  }
};

template <class T, class Activation>
HWY_INLINE void Forward(const RecurrentForward<T>& p, const Activation& activation) {
  ForwardRows(p, 1, [&](const auto& row, auto d, int64_t i, const auto& memory) HWY_ATTR {
    const auto bias = memory.Load(d, p.bias + i);
    const auto a = hn::Add(memory.Load(d, row.planes + i), memory.Load(d, row.product + i));
    const auto h = activation(d, hn::Add(a, bias));
    memory.Store(d, h, row.h + i);
    memory.Store(d, h, row.y + i);
  });
}

template <class T, class Activation>
HWY_INLINE void Backward(const RecurrentBackward<T>& p, const Activation& activation) {
  BackwardRows(p, 1, 1, [&](const auto& row, auto d, int64_t i, const auto& memory) HWY_ATTR {
    const auto g = hn::Add(memory.Load(d, row.gh + i), memory.Load(d, row.gy + i));
    const auto ga = activation.Back(d, memory.Load(d, row.after + i), g);
    memory.Store(d, ga, row.gplanes + i);
    memory.Store(d, ga, row.gproduct + i);
    memory.Store(d, hn::Zero(d), row.gh + i);
  });
}

FOVEA_RECURRENT_BODY(rnn, ByTanh())
FOVEA_RECURRENT_BODY(rnn_relu, ByRelu())

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

FOVEA_RECURRENT_EXPORT(rnn)
FOVEA_RECURRENT_EXPORT(rnn_relu)

}  // namespace fovea::kernels
#endif  // HWY_ONCE
