// Sums down the columns of a block of rows: acc[c] += sum_r x[r, c].
//
// Rows are read in groups of 8, each in order, so the prefetcher sees 8 streams and acc is loaded
// and stored once a group. A group is added as a tree (error of 3 roundings) before acc gets it.
#include <algorithm>

#include "fovea/ops/kernels/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/reduce_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

// The sum of K rows at one place.
template <int K, class D, class T, class M>
HWY_INLINE hn::Vec<D> Tree(D d, const T* x, int64_t row_stride, const M& memory) {
  if constexpr (K == 1) {
    return memory.Load(d, x);
  } else {
    return hn::Add(Tree<K / 2>(d, x, row_stride, memory),
                   Tree<K / 2>(d, x + (K / 2) * row_stride, row_stride, memory));
  }
}

// Same type: one vector at a time. Float into double: half a vector of floats for each of doubles.
template <int K, class T>
HWY_INLINE void AddGroup(const T* x, int64_t row_stride, int64_t cols, T* acc) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto body = [&](int64_t c, const auto& memory) HWY_ATTR {
    const auto sum = Tree<K>(d, x + c, row_stride, memory);
    memory.Store(d, hn::Add(memory.Load(d, acc + c), sum), acc + c);
  };
  int64_t c = 0;
  for (; c + lanes <= cols; c += lanes) body(c, Whole());
  if (c < cols) body(c, Partial{static_cast<size_t>(cols - c)});
}

template <int K>
HWY_INLINE void AddGroup(const float* x, int64_t row_stride, int64_t cols, double* acc) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto body = [&](int64_t c, const auto& memory) HWY_ATTR {
    const auto sum = hn::PromoteTo(d, Tree<K>(df, x + c, row_stride, memory));
    memory.Store(d, hn::Add(memory.Load(d, acc + c), sum), acc + c);
  };
  int64_t c = 0;
  for (; c + lanes <= cols; c += lanes) body(c, Whole());
  if (c < cols) body(c, Partial{static_cast<size_t>(cols - c)});
}

template <class T, class Acc>
HWY_INLINE void AddRows(const T* x, int64_t rows, int64_t row_stride, int64_t cols, Acc* acc) {
  constexpr int64_t kColumns = 2048;  // acc stays in the first-level cache
  for (int64_t first = 0; first < cols; first += kColumns) {
    const int64_t width = std::min(kColumns, cols - first);
    const T* p = x + first;
    int64_t r = 0;
    for (; r + 8 <= rows; r += 8) AddGroup<8>(p + r * row_stride, row_stride, width, acc + first);
    if (rows - r >= 4) {
      AddGroup<4>(p + r * row_stride, row_stride, width, acc + first);
      r += 4;
    }
    if (rows - r >= 2) {
      AddGroup<2>(p + r * row_stride, row_stride, width, acc + first);
      r += 2;
    }
    if (r < rows) AddGroup<1>(p + r * row_stride, row_stride, width, acc + first);
  }
}

void AddRowsF32F32(const float* x, int64_t rows, int64_t row_stride, int64_t cols, float* acc) {
  AddRows(x, rows, row_stride, cols, acc);
}
void AddRowsF32F64(const float* x, int64_t rows, int64_t row_stride, int64_t cols, double* acc) {
  AddRows(x, rows, row_stride, cols, acc);
}
void AddRowsF64F64(const double* x, int64_t rows, int64_t row_stride, int64_t cols, double* acc) {
  AddRows(x, rows, row_stride, cols, acc);
}
void AddRowsI64(const int64_t* x, int64_t rows, int64_t row_stride, int64_t cols, int64_t* acc) {
  AddRows(x, rows, row_stride, cols, acc);
}

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(AddRowsF32F32);
HWY_EXPORT(AddRowsF32F64);
HWY_EXPORT(AddRowsF64F64);
HWY_EXPORT(AddRowsI64);

void add_rows(const float* x, int64_t rows, int64_t row_stride, int64_t cols, float* acc) {
  HWY_DYNAMIC_DISPATCH(AddRowsF32F32)(x, rows, row_stride, cols, acc);
}
void add_rows(const float* x, int64_t rows, int64_t row_stride, int64_t cols, double* acc) {
  HWY_DYNAMIC_DISPATCH(AddRowsF32F64)(x, rows, row_stride, cols, acc);
}
void add_rows(const double* x, int64_t rows, int64_t row_stride, int64_t cols, double* acc) {
  HWY_DYNAMIC_DISPATCH(AddRowsF64F64)(x, rows, row_stride, cols, acc);
}
void add_rows(const int64_t* x, int64_t rows, int64_t row_stride, int64_t cols, int64_t* acc) {
  HWY_DYNAMIC_DISPATCH(AddRowsI64)(x, rows, row_stride, cols, acc);
}
void add_rows(const uint8_t* x, int64_t rows, int64_t row_stride, int64_t cols, int64_t* acc) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) acc[c] += x[r * row_stride + c];
  }
}

}  // namespace fovea::kernels
#endif  // HWY_ONCE
