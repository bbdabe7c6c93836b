// The step of an Elman network.
#include "fovea/ops/kernels/recurrent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/recurrent_rnn.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/recurrent-inl.h"

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

void ForwardF32(const RecurrentForward<float>& p) { Forward(p, ByTanh()); }
void ForwardF64(const RecurrentForward<double>& p) { Forward(p, ByTanh()); }
void BackwardF32(const RecurrentBackward<float>& p) { Backward(p, ByTanh()); }
void BackwardF64(const RecurrentBackward<double>& p) { Backward(p, ByTanh()); }
void ReluForwardF32(const RecurrentForward<float>& p) { Forward(p, ByRelu()); }
void ReluForwardF64(const RecurrentForward<double>& p) { Forward(p, ByRelu()); }
void ReluBackwardF32(const RecurrentBackward<float>& p) { Backward(p, ByRelu()); }
void ReluBackwardF64(const RecurrentBackward<double>& p) { Backward(p, ByRelu()); }

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(ForwardF32);
HWY_EXPORT(ForwardF64);
HWY_EXPORT(BackwardF32);
HWY_EXPORT(BackwardF64);
HWY_EXPORT(ReluForwardF32);
HWY_EXPORT(ReluForwardF64);
HWY_EXPORT(ReluBackwardF32);
HWY_EXPORT(ReluBackwardF64);

void rnn_forward(const RecurrentForward<float>& p) { HWY_DYNAMIC_DISPATCH(ForwardF32)(p); }
void rnn_forward(const RecurrentForward<double>& p) { HWY_DYNAMIC_DISPATCH(ForwardF64)(p); }
void rnn_backward(const RecurrentBackward<float>& p) { HWY_DYNAMIC_DISPATCH(BackwardF32)(p); }
void rnn_backward(const RecurrentBackward<double>& p) { HWY_DYNAMIC_DISPATCH(BackwardF64)(p); }
void rnn_relu_forward(const RecurrentForward<float>& p) { HWY_DYNAMIC_DISPATCH(ReluForwardF32)(p); }
void rnn_relu_forward(const RecurrentForward<double>& p) {
  HWY_DYNAMIC_DISPATCH(ReluForwardF64)(p);
}
void rnn_relu_backward(const RecurrentBackward<float>& p) {
  HWY_DYNAMIC_DISPATCH(ReluBackwardF32)(p);
}
void rnn_relu_backward(const RecurrentBackward<double>& p) {
  HWY_DYNAMIC_DISPATCH(ReluBackwardF64)(p);
}

}  // namespace fovea::kernels
#endif  // HWY_ONCE
