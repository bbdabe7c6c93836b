#include "fovea/ops/kernels/index.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/index.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

struct Plus {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};
struct Either {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Or(a, b);
  }
};

template <class Op, class T>
HWY_INLINE void Scatter(const T* src, int64_t row_len, const int64_t* idx, int64_t n, T* table,
                        const RowRange& range) {
  const Op op;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = idx[i];
    if (row < range.first || row >= range.last || row == range.skip) continue;
    const T* from = src + i * row_len;
    T* to = table + row * row_len;
    ForRow<T>(row_len, [&](auto d, int64_t c, const auto& memory) HWY_ATTR {
      memory.Store(d, op(memory.Load(d, to + c), memory.Load(d, from + c)), to + c);
    });
  }
}

void ScatterF32(const float* src, int64_t row_len, const int64_t* idx, int64_t n, float* table,
                const RowRange& range) {
  Scatter<Plus>(src, row_len, idx, n, table, range);
}
void ScatterF64(const double* src, int64_t row_len, const int64_t* idx, int64_t n, double* table,
                const RowRange& range) {
  Scatter<Plus>(src, row_len, idx, n, table, range);
}
void ScatterI64(const int64_t* src, int64_t row_len, const int64_t* idx, int64_t n, int64_t* table,
                const RowRange& range) {
  Scatter<Plus>(src, row_len, idx, n, table, range);
}
void ScatterU8(const uint8_t* src, int64_t row_len, const int64_t* idx, int64_t n, uint8_t* table,
               const RowRange& range) {
  Scatter<Either>(src, row_len, idx, n, table, range);
}

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

namespace {

template <class T>
void gather(const T* table, int64_t row_len, const int64_t* idx, int64_t n, T* out) {
  if (row_len == 0) return;
  const size_t bytes = static_cast<size_t>(row_len) * sizeof(T);
  if (row_len == 1) {  // a call a number would cost more than the number
    for (int64_t i = 0; i < n; ++i) out[i] = table[idx[i]];
    return;
  }
  for (int64_t i = 0; i < n; ++i) std::memcpy(out + i * row_len, table + idx[i] * row_len, bytes);
}

}  // namespace

HWY_EXPORT(ScatterF32);
HWY_EXPORT(ScatterF64);
HWY_EXPORT(ScatterI64);
HWY_EXPORT(ScatterU8);

void gather_rows(const float* table, int64_t row_len, const int64_t* idx, int64_t n, float* out) {
  gather(table, row_len, idx, n, out);
}
void gather_rows(const double* table, int64_t row_len, const int64_t* idx, int64_t n, double* out) {
  gather(table, row_len, idx, n, out);
}
void gather_rows(const int64_t* table, int64_t row_len, const int64_t* idx, int64_t n,
                 int64_t* out) {
  gather(table, row_len, idx, n, out);
}
void gather_rows(const uint8_t* table, int64_t row_len, const int64_t* idx, int64_t n,
                 uint8_t* out) {
  gather(table, row_len, idx, n, out);
}

void scatter_add_rows(const float* src, int64_t row_len, const int64_t* idx, int64_t n,
                      float* table, const RowRange& range) {
  HWY_DYNAMIC_DISPATCH(ScatterF32)(src, row_len, idx, n, table, range);
}
void scatter_add_rows(const double* src, int64_t row_len, const int64_t* idx, int64_t n,
                      double* table, const RowRange& range) {
  HWY_DYNAMIC_DISPATCH(ScatterF64)(src, row_len, idx, n, table, range);
}
void scatter_add_rows(const int64_t* src, int64_t row_len, const int64_t* idx, int64_t n,
                      int64_t* table, const RowRange& range) {
  HWY_DYNAMIC_DISPATCH(ScatterI64)(src, row_len, idx, n, table, range);
}
void scatter_add_rows(const uint8_t* src, int64_t row_len, const int64_t* idx, int64_t n,
                      uint8_t* table, const RowRange& range) {
  HWY_DYNAMIC_DISPATCH(ScatterU8)(src, row_len, idx, n, table, range);
}

}  // namespace fovea::kernels
#endif  // HWY_ONCE
