// Sums along a row with two levels of accumulators, which keep the error of long rows small.
// Per-target header: included once for each instruction set.
#if defined(FOVEA_OPS_KERNELS_ACCUMULATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_ACCUMULATE_INL_H_
#undef FOVEA_OPS_KERNELS_ACCUMULATE_INL_H_
#else
#define FOVEA_OPS_KERNELS_ACCUMULATE_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>

#include "fovea/ops/kernels/load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The second level, in double. Blocks of doubles are added with the error of each addition kept
// aside (Knuth's two-sum).
template <class T>
struct Total {
  double sum = 0;
  double lost = 0;
  HWY_INLINE void Add(double block) {
    const double next = sum + block;
    if constexpr (sizeof(T) == sizeof(double)) {
      const double from_block = next - sum;
      lost += (sum - (next - from_block)) + (block - from_block);
    }
    sum = next;
  }
  // With an infinite sum what was lost is NaN, which the sum itself need not be.
  HWY_INLINE double Result() const { return std::isfinite(lost) ? sum + lost : sum; }
};

// term(d, acc, i, memory) returns acc plus the terms of the elements at i, i + 1, ...
// kUnroll, 4 or 8, is the number of accumulators: 8 hide the latency of an addition, 4 leave
// registers to terms that need many. Each of them takes at most 16 terms a lane in a block.
template <class T, int kUnroll = 8, class Term>
HWY_INLINE double Accumulate(int64_t n, const Term& term) {
  static_assert(kUnroll == 4 || kUnroll == 8);
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t step = kUnroll * lanes;
  const int64_t block = 16 * step;
  const Whole whole;
  Total<T> total;
  int64_t i = 0;
  while (i + lanes <= n) {
    auto a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
    const int64_t end = n - i < block ? n : i + block;
    for (; i + step <= end; i += step) {
      a0 = term(d, a0, i, whole);
      a1 = term(d, a1, i + lanes, whole);
      a2 = term(d, a2, i + 2 * lanes, whole);
      a3 = term(d, a3, i + 3 * lanes, whole);
      if constexpr (kUnroll == 8) {
        a4 = term(d, a4, i + 4 * lanes, whole);
        a5 = term(d, a5, i + 5 * lanes, whole);
        a6 = term(d, a6, i + 6 * lanes, whole);
        a7 = term(d, a7, i + 7 * lanes, whole);
      }
    }
    for (; i + lanes <= end; i += lanes) a0 = term(d, a0, i, whole);
    auto sum = hn::Add(hn::Add(a0, a1), hn::Add(a2, a3));
    if constexpr (kUnroll == 8) {
      sum = hn::Add(sum, hn::Add(hn::Add(a4, a5), hn::Add(a6, a7)));
    }
    total.Add(ReduceSum(d, sum));
  }
  if (i < n) {
    const Partial rest{static_cast<size_t>(n - i)};
    total.Add(ReduceSum(d, term(d, hn::Zero(d), i, rest)));
  }
  return total.Result();
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
