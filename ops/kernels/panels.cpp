// Products with a matrix in panels: blocks of rows by two vectors of columns, summed in registers.
#include "fovea/ops/kernels/panels.h"

#include <algorithm>
#include <type_traits>

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

// The sums of 2 kMostRows vectors, two more for the panel and one for A stay in registers.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr int64_t kMostRows = 8;
#else
constexpr int64_t kMostRows = 6;
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
#define FOVEA_ADD(r)                                                               \
  if constexpr (r < kRows) {                                                       \
    const V a = hn::Set(d, kTurned ? b.a[p * kMostRows + r] : b.a[r * b.lda + p]); \
    left##r = hn::MulAdd(a, left, left##r);                                        \
    right##r = hn::MulAdd(a, right, right##r);                                     \
  }
#define FOVEA_FINISH(r)                                                     \
  if constexpr (r < kRows) {                                                \
    Finish(d, left##r, b.columns, b.add, b.c + r * b.ldc);                  \
    Finish(d, right##r, b.columns - lanes, b.add, b.c + r * b.ldc + lanes); \
  }
template <bool kTurned, int64_t kRows, class T>
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

// All rows of C in the columns of two vectors.
template <bool kTurned, class T>
HWY_INLINE void Columns(int64_t m, Block<T> b) {
  const auto run = [&](auto rows) HWY_ATTR {
    constexpr int64_t kRows = decltype(rows)::value;
    Rows<kTurned, kRows>(b);
    b.a += !kTurned ? kRows * b.lda : kRows == kMostRows ? kMostRows * b.k : kRows;
    b.c += kRows * b.ldc;
    m -= kRows;
  };
  while (m >= kMostRows) run(std::integral_constant<int64_t, kMostRows>());
  if (m >= 4) run(std::integral_constant<int64_t, 4>());
  if (m >= 2) run(std::integral_constant<int64_t, 2>());
  if (m >= 1) run(std::integral_constant<int64_t, 1>());
}

// At most kTurn rows of A, stored (k, m), in blocks of kMostRows: (block, k, row). Where they were,
// a step along k led to another page.
constexpr int64_t kTurn = 8 * kMostRows;
template <class T>
HWY_INLINE void Turn(int64_t m, int64_t k, const T* a, int64_t lda, T* HWY_RESTRICT out) {
  for (int64_t p = 0; p < k; ++p, a += lda) {
    int64_t i = 0;
    for (; i + kMostRows <= m; i += kMostRows) {
      std::copy_n(a + i, kMostRows, out + i * k + p * kMostRows);
    }
    if (i < m) std::copy_n(a + i, m - i, out + i * k + p * kMostRows);
  }
}

// A block of B, and all of p's rows or, of a transposed A, those that were turned.
template <bool kTurned, class T>
HWY_INLINE void Panels(const PanelProduct<T>& p, int64_t m, int64_t from, const T* a, T* c) {
  const int64_t step = 2 * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const int64_t end = std::min(p.n, p.last * kPanel<T>), k = std::min(kPanelRows, p.k - from);
  const T* block = p.panels + from * panels<T>(p.n) * kPanel<T>;
  for (int64_t j = p.first * kPanel<T>; j < end; j += step) {
    Columns<kTurned>(
        m, Block<T>{k, p.n - j, a, p.lda, block + j / kPanel<T> * kPanel<T> * k + j % kPanel<T>,
                    p.add || from > 0, c + j, p.ldc});
  }
}

template <class T>
HWY_INLINE void Product(const PanelProduct<T>& p) {
  for (int64_t from = 0; from == 0 || from < p.k; from += kPanelRows) {
    if (!p.transposed) {
      Panels<false>(p, p.m, from, p.a + from, p.c);
      continue;
    }
    HWY_ALIGN T turned[kTurn * kPanelRows];
    for (int64_t i = 0; i < p.m; i += kTurn) {
      const int64_t m = std::min(kTurn, p.m - i);
      Turn(m, std::min(kPanelRows, p.k - from), p.a + from * p.lda + i, p.lda, turned);
      Panels<true>(p, m, from, turned, p.c + i * p.ldc);
    }
  }
}

bool SuitMachine() { return HWY_TARGET != HWY_SCALAR && hn::Lanes(hn::ScalableTag<float>()) >= 8; }
void ProductF32(const PanelProduct<float>& p) { Product(p); }
void ProductF64(const PanelProduct<double>& p) { Product(p); }

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

namespace {

template <class T>
void pack(bool transposed, const T* b, int64_t ldb, int64_t k, int64_t n, int64_t p, T* all) {
  const int64_t first = p * kPanel<T>, columns = std::min(kPanel<T>, n - first);
  for (int64_t from = 0; from < k; from += kPanelRows) {
    const int64_t rows = std::min(kPanelRows, k - from);
    T* panel = all + from * panels<T>(n) * kPanel<T> + first * rows;
    if (columns < kPanel<T>) std::fill_n(panel, rows * kPanel<T>, T(0));
    if (transposed) {
      transpose_copy(b + first * ldb + from, ldb, panel, kPanel<T>, columns, rows);
      continue;
    }
    for (int64_t i = 0; i < rows; ++i) {
      std::copy_n(b + (from + i) * ldb + first, columns, panel + i * kPanel<T>);
    }
  }
}

}  // namespace

HWY_EXPORT(SuitMachine);
HWY_EXPORT(ProductF32);
HWY_EXPORT(ProductF64);

void pack_panel(bool transposed, const float* b, int64_t ldb, int64_t k, int64_t n, int64_t p,
                float* all) {
  pack(transposed, b, ldb, k, n, p, all);
}
void pack_panel(bool transposed, const double* b, int64_t ldb, int64_t k, int64_t n, int64_t p,
                double* all) {
  pack(transposed, b, ldb, k, n, p, all);
}
bool panels_suit_machine() { return HWY_DYNAMIC_DISPATCH(SuitMachine)(); }
void panel_product(const PanelProduct<float>& p) { HWY_DYNAMIC_DISPATCH(ProductF32)(p); }
void panel_product(const PanelProduct<double>& p) { HWY_DYNAMIC_DISPATCH(ProductF64)(p); }

}  // namespace fovea::kernels
#endif  // HWY_ONCE
