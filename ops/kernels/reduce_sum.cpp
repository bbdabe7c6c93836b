// Sums of terms along a row: two levels of accumulators keep the error of long rows small.
#include "fovea/ops/kernels/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/reduce_sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/accumulate-inl.h"
#include "fovea/ops/kernels/load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

// Loads as double whatever the element type.
template <class D, class M>
HWY_INLINE hn::Vec<D> LoadDouble(D /*d*/, const double* p, const M& memory) {
  return memory.Load(D(), p);
}
template <class D, class M>
HWY_INLINE hn::Vec<D> LoadDouble(D d, const float* p, const M& memory) {
  const hn::Rebind<float, D> df;
  return hn::PromoteTo(d, memory.Load(df, p));
}

template <class T>
struct SumTerm {
  const T* x;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    return hn::Add(acc, memory.Load(d, x + i));
  }
};

template <class T>
struct AbsTerm {
  const T* x;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    return hn::Add(acc, hn::Abs(memory.Load(d, x + i)));
  }
};

template <class T>
struct DotTerm {
  const T* x;
  const T* y;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    return hn::MulAdd(memory.Load(d, x + i), memory.Load(d, y + i), acc);
  }
};

template <class T>
struct SquareTerm {
  const T* x;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    const auto v = LoadDouble(d, x + i, memory);
    return hn::MulAdd(v, v, acc);
  }
};

template <class T>
struct DeviationTerm {
  const T* x;
  double mean;
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V acc, int64_t i, const M& memory) const {
    const auto away = hn::Sub(LoadDouble(d, x + i, memory), hn::Set(d, mean));
    const auto v = memory.ZeroRest(d, away);
    return hn::MulAdd(v, v, acc);
  }
};

template <class T>
double Prod(const T* x, int64_t n) {
  const hn::ScalableTag<double> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Whole whole;
  auto a0 = hn::Set(d, 1.0), a1 = a0, a2 = a0, a3 = a0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a0 = hn::Mul(a0, LoadDouble(d, x + i, whole));
    a1 = hn::Mul(a1, LoadDouble(d, x + i + lanes, whole));
    a2 = hn::Mul(a2, LoadDouble(d, x + i + 2 * lanes, whole));
    a3 = hn::Mul(a3, LoadDouble(d, x + i + 3 * lanes, whole));
  }
  HWY_ALIGN double buffer[hn::MaxLanes(d)];
  hn::Store(hn::Mul(hn::Mul(a0, a1), hn::Mul(a2, a3)), d, buffer);
  double result = buffer[0];
  for (int64_t lane = 1; lane < lanes; ++lane) result *= buffer[lane];
  for (; i < n; ++i) result *= static_cast<double>(x[i]);
  return result;
}

double SumF32(const float* x, int64_t n) { return Accumulate<float>(n, SumTerm<float>{x}); }
double SumF64(const double* x, int64_t n) { return Accumulate<double>(n, SumTerm<double>{x}); }
double AbsF32(const float* x, int64_t n) { return Accumulate<float>(n, AbsTerm<float>{x}); }
double AbsF64(const double* x, int64_t n) { return Accumulate<double>(n, AbsTerm<double>{x}); }
double SquaresF32(const float* x, int64_t n) { return Accumulate<double>(n, SquareTerm<float>{x}); }
double SquaresF64(const double* x, int64_t n) {
  return Accumulate<double>(n, SquareTerm<double>{x});
}
double DeviationF32(const float* x, double mean, int64_t n) {
  return Accumulate<double>(n, DeviationTerm<float>{x, mean});
}
double DeviationF64(const double* x, double mean, int64_t n) {
  return Accumulate<double>(n, DeviationTerm<double>{x, mean});
}
double DotF32(const float* x, const float* y, int64_t n) {
  return Accumulate<float>(n, DotTerm<float>{x, y});
}
double DotF64(const double* x, const double* y, int64_t n) {
  return Accumulate<double>(n, DotTerm<double>{x, y});
}
double ProdF32(const float* x, int64_t n) { return Prod(x, n); }
double ProdF64(const double* x, int64_t n) { return Prod(x, n); }

int64_t SumI64(const int64_t* x, int64_t n) {
  const hn::ScalableTag<int64_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto a0 = hn::Zero(d), a1 = a0;
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a0 = hn::Add(a0, hn::LoadU(d, x + i));
    a1 = hn::Add(a1, hn::LoadU(d, x + i + lanes));
  }
  uint64_t result = static_cast<uint64_t>(ReduceSum(d, hn::Add(a0, a1)));
  for (; i < n; ++i) result += static_cast<uint64_t>(x[i]);
  return static_cast<int64_t>(result);
}

int64_t SumU8(const uint8_t* x, int64_t n) {
  const hn::ScalableTag<uint8_t> d;
  const hn::Repartition<uint64_t, decltype(d)> d64;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto acc = hn::Zero(d64);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) acc = hn::Add(acc, hn::SumsOf8(hn::LoadU(d, x + i)));
  int64_t result = static_cast<int64_t>(ReduceSum(d64, acc));
  for (; i < n; ++i) result += x[i];
  return result;
}

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(SumF32);
HWY_EXPORT(SumF64);
HWY_EXPORT(SumI64);
HWY_EXPORT(SumU8);
HWY_EXPORT(AbsF32);
HWY_EXPORT(AbsF64);
HWY_EXPORT(SquaresF32);
HWY_EXPORT(SquaresF64);
HWY_EXPORT(DeviationF32);
HWY_EXPORT(DeviationF64);
HWY_EXPORT(DotF32);
HWY_EXPORT(DotF64);
HWY_EXPORT(ProdF32);
HWY_EXPORT(ProdF64);

double sum(const float* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(SumF32)(x, n); }
double sum(const double* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(SumF64)(x, n); }
int64_t sum(const int64_t* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(SumI64)(x, n); }
int64_t sum(const uint8_t* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(SumU8)(x, n); }
double sum_abs(const float* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(AbsF32)(x, n); }
double sum_abs(const double* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(AbsF64)(x, n); }
double sum_squares(const float* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(SquaresF32)(x, n); }
double sum_squares(const double* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(SquaresF64)(x, n); }
double sum_squared_deviation(const float* x, double mean, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(DeviationF32)(x, mean, n);
}
double sum_squared_deviation(const double* x, double mean, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(DeviationF64)(x, mean, n);
}
double dot(const float* x, const float* y, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(DotF32)(x, y, n);
}
double dot(const double* x, const double* y, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(DotF64)(x, y, n);
}
double prod(const float* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(ProdF32)(x, n); }
double prod(const double* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(ProdF64)(x, n); }

int64_t prod(const int64_t* x, int64_t n) {
  uint64_t result = 1;
  for (int64_t i = 0; i < n; ++i) result *= static_cast<uint64_t>(x[i]);
  return static_cast<int64_t>(result);
}

}  // namespace fovea::kernels
#endif  // HWY_ONCE
