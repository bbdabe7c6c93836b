// Products with a matrix in panels: blocks of rows by two vectors of columns, summed in registers.
#include "fovea/ops/kernels/panels.h"

#include <algorithm>

#include "fovea/ops/kernels/convert.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/panels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

// The sums of 2 kRows vectors, two more for the panel and one for A stay in registers.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr int64_t kMostRows = 8;
#else
constexpr int64_t kMostRows = 4;
#endif

template <class T>
struct Block {
  int64_t k, columns;  // of the two vectors, so many columns are part of C
  const T* a;
  int64_t lda;
  const T* panel;
  bool add;
  T* c;
  int64_t ldc;
};

template <class D, class V, class T>
HWY_INLINE void Finish(D d, V sum, int64_t columns, bool add, T* c) {
  if (columns >= static_cast<int64_t>(hn::Lanes(d))) {
    hn::StoreU(add ? hn::Add(sum, hn::LoadU(d, c)) : sum, d, c);
  } else if (columns > 0) {
    const size_t count = static_cast<size_t>(columns);
    StoreN(d, add ? hn::Add(sum, LoadN(d, c, count)) : sum, c, count);
  }
}

// Written out row by row: a compiler keeps arrays of vectors in memory.
#define FOVEA_EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define FOVEA_ZERO(r) V left##r = hn::Zero(d), right##r = left##r;
#define FOVEA_ADD(r)                            \
  if constexpr (r < kRows) {                    \
    const V a = hn::Set(d, b.a[r * b.lda + p]); \
    left##r = hn::MulAdd(a, left, left##r);     \
    right##r = hn::MulAdd(a, right, right##r);  \
  }
#define FOVEA_FINISH(r)                                                     \
  if constexpr (r < kRows) {                                                \
    Finish(d, left##r, b.columns, b.add, b.c + r * b.ldc);                  \
    Finish(d, right##r, b.columns - lanes, b.add, b.c + r * b.ldc + lanes); \
  }
template <class T, int64_t kRows>
HWY_INLINE void Rows(const Block<T>& b) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  FOVEA_EACH_ROW(FOVEA_ZERO)
  for (int64_t p = 0; p < b.k; ++p) {
    const V left = hn::LoadU(d, b.panel + p * kPanel<T>);
    const V right = hn::LoadU(d, b.panel + p * kPanel<T> + lanes);
    FOVEA_EACH_ROW(FOVEA_ADD)
  }
  FOVEA_EACH_ROW(FOVEA_FINISH)
}
#undef FOVEA_FINISH
#undef FOVEA_ADD
#undef FOVEA_ZERO
#undef FOVEA_EACH_ROW

template <class T>
HWY_INLINE void Product(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* panels,
                        bool add, T* c, int64_t ldc) {
  const int64_t step = 2 * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  for (int64_t j = 0; j < n; j += step) {
    const T* panel = panels + j / kPanel<T> * kPanel<T> * k + j % kPanel<T>;
    Block<T> b{k, n - j, a, lda, panel, add, c + j, ldc};
    for (int64_t rest = m; rest > 0;) {
      const int64_t rows = rest >= kMostRows ? kMostRows : rest >= 4 ? 4 : rest >= 2 ? 2 : 1;
      if (rows == kMostRows) {
        Rows<T, kMostRows>(b);
      } else if (rows == 4) {
        Rows<T, 4>(b);
      } else if (rows == 2) {
        Rows<T, 2>(b);
      } else {
        Rows<T, 1>(b);
      }
      rest -= rows;
      b.a += rows * lda;
      b.c += rows * ldc;
    }
  }
}

void ProductF32(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* panels,
                bool add, float* c, int64_t ldc) {
  Product(m, n, k, a, lda, panels, add, c, ldc);
}
void ProductF64(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* panels,
                bool add, double* c, int64_t ldc) {
  Product(m, n, k, a, lda, panels, add, c, ldc);
}

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

namespace {

template <class T>
void pack(bool transposed, const T* b, int64_t k, int64_t n, int64_t p, T* panel) {
  const int64_t first = p * kPanel<T>, columns = std::min(kPanel<T>, n - first);
  if (columns < kPanel<T>) std::fill(panel, panel + k * kPanel<T>, T(0));
  if (transposed) {
    transpose_copy(b + first * k, k, panel, kPanel<T>, columns, k);
    return;
  }
  for (int64_t i = 0; i < k; ++i) {
    std::copy_n(b + i * n + first, columns, panel + i * kPanel<T>);
  }
}

}  // namespace

HWY_EXPORT(ProductF32);
HWY_EXPORT(ProductF64);

void pack_panel(bool transposed, const float* b, int64_t k, int64_t n, int64_t p, float* panel) {
  pack(transposed, b, k, n, p, panel);
}
void pack_panel(bool transposed, const double* b, int64_t k, int64_t n, int64_t p, double* panel) {
  pack(transposed, b, k, n, p, panel);
}
void panel_product(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                   const float* panels, bool add, float* c, int64_t ldc) {
  HWY_DYNAMIC_DISPATCH(ProductF32)(m, n, k, a, lda, panels, add, c, ldc);
}
void panel_product(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda,
                   const double* panels, bool add, double* c, int64_t ldc) {
  HWY_DYNAMIC_DISPATCH(ProductF64)(m, n, k, a, lda, panels, add, c, ldc);
}

}  // namespace fovea::kernels
#endif  // HWY_ONCE
