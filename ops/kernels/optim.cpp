#include "fovea/ops/kernels/optim.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/optim.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void Adam(T* p, const T* g, T* m, T* v, int64_t n, const AdamStep& step) {
  const T b1 = static_cast<T>(step.beta1), b2 = static_cast<T>(step.beta2);
  const T rest1 = static_cast<T>(1 - step.beta1), rest2 = static_cast<T>(1 - step.beta2);
  const T rate = static_cast<T>(step.lr / step.bias1), eps = static_cast<T>(step.eps);
  const T root = static_cast<T>(1 / std::sqrt(step.bias2));
  const T add = static_cast<T>(step.decoupled ? 0 : step.weight_decay);
  const T keep = static_cast<T>(step.decoupled ? 1 - step.lr * step.weight_decay : 1);
  ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
    const auto old = memory.Load(d, p + i);
    const auto grad = hn::MulAdd(old, hn::Set(d, add), memory.Load(d, g + i));
    const auto mean =
        hn::MulAdd(memory.Load(d, m + i), hn::Set(d, b1), hn::Mul(grad, hn::Set(d, rest1)));
    const auto square = hn::MulAdd(memory.Load(d, v + i), hn::Set(d, b2),
                                   hn::Mul(hn::Mul(grad, grad), hn::Set(d, rest2)));
    const auto size = hn::MulAdd(hn::Sqrt(square), hn::Set(d, root), hn::Set(d, eps));
    const auto change = hn::Mul(hn::Div(mean, size), hn::Set(d, rate));
    memory.Store(d, hn::MulSub(old, hn::Set(d, keep), change), p + i);
    memory.Store(d, mean, m + i);
    memory.Store(d, square, v + i);
  });
}

template <class T>
HWY_INLINE void Sgd(T* p, const T* g, T* buffer, int64_t n, const SgdStep& step) {
  const T rate = static_cast<T>(step.lr), decay = static_cast<T>(step.weight_decay);
  const T momentum = static_cast<T>(step.momentum);
  if (buffer == nullptr || step.momentum == 0) {
    ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
      const auto old = memory.Load(d, p + i);
      const auto grad = hn::MulAdd(old, hn::Set(d, decay), memory.Load(d, g + i));
      memory.Store(d, hn::NegMulAdd(grad, hn::Set(d, rate), old), p + i);
    });
    return;
  }
  // The first step takes the gradient as it is, whatever the buffer holds.
  const bool first = step.first_step, nesterov = step.nesterov;
  const T fresh = static_cast<T>(first ? 1 : 1 - step.dampening);
  ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
    const auto old = memory.Load(d, p + i);
    const auto grad = hn::MulAdd(old, hn::Set(d, decay), memory.Load(d, g + i));
    auto velocity = hn::Mul(grad, hn::Set(d, fresh));
    if (!first) velocity = hn::MulAdd(memory.Load(d, buffer + i), hn::Set(d, momentum), velocity);
    memory.Store(d, velocity, buffer + i);
    const auto change = nesterov ? hn::MulAdd(velocity, hn::Set(d, momentum), grad) : velocity;
    memory.Store(d, hn::NegMulAdd(change, hn::Set(d, rate), old), p + i);
  });
}

template <class T>
HWY_INLINE void Root(T* p, const T* g, T* v, int64_t n, const RootStep& step) {
  const T rate = static_cast<T>(step.lr), keep = static_cast<T>(step.keep);
  const T rest = static_cast<T>(step.add), floor = static_cast<T>(step.eps);
  const T decay = static_cast<T>(step.weight_decay);
  ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
    const auto old = memory.Load(d, p + i);
    const auto grad = hn::MulAdd(old, hn::Set(d, decay), memory.Load(d, g + i));
    const auto square = hn::MulAdd(memory.Load(d, v + i), hn::Set(d, keep),
                                   hn::Mul(hn::Mul(grad, grad), hn::Set(d, rest)));
    const auto size = hn::Add(hn::Sqrt(square), hn::Set(d, floor));
    memory.Store(d, square, v + i);
    memory.Store(d, hn::NegMulAdd(hn::Div(grad, size), hn::Set(d, rate), old), p + i);
  });
}

template <class T>
HWY_INLINE void ScaleAdd(T* y, const T* x, int64_t n, double a, double b) {
  const T ta = static_cast<T>(a), tb = static_cast<T>(b);
  ForRow<T>(n, [&](auto d, int64_t i, const auto& memory) HWY_ATTR {
    const auto scaled = hn::Mul(memory.Load(d, y + i), hn::Set(d, ta));
    memory.Store(d, hn::MulAdd(memory.Load(d, x + i), hn::Set(d, tb), scaled), y + i);
  });
}

void AdamF32(float* p, const float* g, float* m, float* v, int64_t n, const AdamStep& step) {
  Adam(p, g, m, v, n, step);
}
void AdamF64(double* p, const double* g, double* m, double* v, int64_t n, const AdamStep& step) {
  Adam(p, g, m, v, n, step);
}
void SgdF32(float* p, const float* g, float* buffer, int64_t n, const SgdStep& step) {
  Sgd(p, g, buffer, n, step);
}
void SgdF64(double* p, const double* g, double* buffer, int64_t n, const SgdStep& step) {
  Sgd(p, g, buffer, n, step);
}
void RootF32(float* p, const float* g, float* v, int64_t n, const RootStep& step) {
  Root(p, g, v, n, step);
}
void RootF64(double* p, const double* g, double* v, int64_t n, const RootStep& step) {
  Root(p, g, v, n, step);
}
void ScaleAddF32(float* y, const float* x, int64_t n, double a, double b) {
  ScaleAdd(y, x, n, a, b);
}
void ScaleAddF64(double* y, const double* x, int64_t n, double a, double b) {
  ScaleAdd(y, x, n, a, b);
}

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(AdamF32);
HWY_EXPORT(AdamF64);
HWY_EXPORT(SgdF32);
HWY_EXPORT(SgdF64);
HWY_EXPORT(RootF32);
HWY_EXPORT(RootF64);
HWY_EXPORT(ScaleAddF32);
HWY_EXPORT(ScaleAddF64);

void adam(float* p, const float* g, float* m, float* v, int64_t n, const AdamStep& step) {
  HWY_DYNAMIC_DISPATCH(AdamF32)(p, g, m, v, n, step);
}
void adam(double* p, const double* g, double* m, double* v, int64_t n, const AdamStep& step) {
  HWY_DYNAMIC_DISPATCH(AdamF64)(p, g, m, v, n, step);
}
void sgd(float* p, const float* g, float* buffer, int64_t n, const SgdStep& step) {
  HWY_DYNAMIC_DISPATCH(SgdF32)(p, g, buffer, n, step);
}
void sgd(double* p, const double* g, double* buffer, int64_t n, const SgdStep& step) {
  HWY_DYNAMIC_DISPATCH(SgdF64)(p, g, buffer, n, step);
}
void root_step(float* p, const float* g, float* v, int64_t n, const RootStep& step) {
  HWY_DYNAMIC_DISPATCH(RootF32)(p, g, v, n, step);
}
void root_step(double* p, const double* g, double* v, int64_t n, const RootStep& step) {
  HWY_DYNAMIC_DISPATCH(RootF64)(p, g, v, n, step);
}
void scale_add(float* y, const float* x, int64_t n, double a, double b) {
  HWY_DYNAMIC_DISPATCH(ScaleAddF32)(y, x, n, a, b);
}
void scale_add(double* y, const double* x, int64_t n, double a, double b) {
  HWY_DYNAMIC_DISPATCH(ScaleAddF64)(y, x, n, a, b);
}

}  // namespace fovea::kernels
#endif  // HWY_ONCE
