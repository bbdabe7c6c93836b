// How the operations that index along one axis walk their tensors. Not public.
#pragma once

#include <algorithm>

#include "fovea/ops/internal.h"

namespace fovea::detail {

/// IndexError naming the first number of `index`, the argument `arg`, outside [0, n), and where it
/// stands; `shape` and `axis` tell where n comes from.
void check_index(const char* op, const char* arg, const Tensor& index, int64_t n, int axis,
                 const char* of, const Shape& shape);

/// x (.., N, ..), and index and y (.., n, ..), equal on every axis but one. The other axes are
/// collapsed into rows of columns; a column holds the N places of x and the n places of y that
/// belong together. A block is some places times some columns of one row.
class IndexPlan {
 public:
  using Offsets = std::array<int64_t, 3>;  // of the row's first element in x, index, y

  IndexPlan(const Tensor& x, const Tensor& index, const Tensor& y, int axis) {
    const Tensor* all[] = {&x, &index, &y};
    Shape shape = y.shape();
    Strides strides[3];
    for (int k = 0; k < 3; ++k) {
      strides[k] = all[k]->strides();
      along[k] = strides[k][axis];
      strides[k].erase(axis);
    }
    places = shape[axis];
    shape.erase(axis);
    others_ = collapse<3>(shape, {&strides[0], &strides[1], &strides[2]});
    for (int k = 0; k < 3; ++k) across[k] = others_.strides[k][others_.rank - 1];
    columns = others_.row_length();
    by_rows = across[0] == 1;
    whole_rows = by_rows && across[1] == 0 && across[2] == 1;
  }

  int64_t places;   ///< n
  int64_t columns;  ///< of one row
  Offsets along;    ///< strides from one place to the next
  Offsets across;   ///< strides from one column to the next
  bool by_rows;     ///< columns lie side by side in x: walk them innermost
  bool whole_rows;  ///< and in y, and they share one index: rows move as a whole

  /// f(offsets, j0, j1, i0, i1): places [j0, j1) of columns [i0, i1), in parallel, each once.
  /// No two blocks share a column, so that f may add into x.
  template <class F>
  void over_columns(const F& f) const {
    // Whole rows: long runs. Else blocks one or two cache lines wide, so that the lines of x that
    // the index jumps between stay in the cache until all their columns are done.
    const int64_t least = whole_rows ? 256 : by_rows ? 16 : 1;
    const int64_t grain = std::max(least, grain_for(places));
    split(columns, grain,
          [&](const Offsets& off, int64_t b, int64_t e) { f(off, 0, places, b, e); });
  }

  /// The same for functions that only write to y, which may split places as well.
  template <class F>
  void over_blocks(const F& f) const {
    if (!whole_rows && columns > 1) return over_columns(f);
    split(places, grain_for(columns),
          [&](const Offsets& off, int64_t b, int64_t e) { f(off, b, e, 0, columns); });
  }

  /// element(i, j) for the columns i and places j of a block, places of one column in order.
  template <class F>
  void each(int64_t j0, int64_t j1, int64_t i0, int64_t i1, const F& element) const {
    if (by_rows) {
      for (int64_t j = j0; j < j1; ++j) {
        for (int64_t i = i0; i < i1; ++i) element(i, j);
      }
    } else {
      for (int64_t i = i0; i < i1; ++i) {
        for (int64_t j = j0; j < j1; ++j) element(i, j);
      }
    }
  }

 private:
  // Cuts rows * n items into chunks of `grain`, and those where a row ends.
  template <class F>
  void split(int64_t n, int64_t grain, const F& f) const {
    parallel_for(others_.rows * n, grain, [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t first = begin % n;
        const int64_t last = std::min(n, first + end - begin);
        f(others_.row_offsets(begin / n), first, last);
        begin += last - first;
      }
    });
  }

  Collapsed<3> others_;
};

}  // namespace fovea::detail
