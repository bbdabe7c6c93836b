// A matrix that many rows are multiplied by. Not public.
#pragma once

#include <algorithm>

#include "fovea/core/allocator.h"
#include "fovea/core/parallel.h"
#include "fovea/ops/kernels/panels.h"

namespace fovea::detail {

/// B (k, n) in panels, stored in rows ldb apart: (k, n), or (n, k) when transposed.
template <class T>
class Panelled {
 public:
  Panelled(bool transposed, const T* b, int64_t ldb, int64_t k, int64_t n)
      : k_(k), n_(n), panels_(kernels::panels_size<T>(k, n)) {
    parallel_for(kernels::panels<T>(n), grain_for(kernels::kPanel<T> * k),
                 [&](int64_t p, int64_t end) {
                   for (; p < end; ++p) {
                     kernels::pack_panel(transposed, b, ldb, k, n, p, panels_.data());
                   }
                 });
  }

  /// C (m, n) = A B, or C += A B. A is stored (m, k), or (k, m) when transposed.
  void product(int64_t m, bool transposed, const T* a, int64_t lda, bool add, T* c,
               int64_t ldc) const {
    kernels::panel_product(call(m, transposed, a, lda, add, c, ldc));
  }

  /// The same in parallel.
  void rows(int64_t m, bool transposed, const T* a, int64_t lda, bool add, T* c,
            int64_t ldc) const {
    if (m <= 0 || n_ <= 0) return;
    // A few tasks a thread, each worth its start. Many rows at once make most of a panel, and of
    // the pages that a transposed A is turned from. How the product is cut changes no bits.
    const int64_t workers = threads(), tasks = workers > 1 ? 2 * workers : 1;
    const int64_t all = kernels::panels<T>(n_);
    const int64_t block = std::clamp<int64_t>((m / tasks + 7) / 8 * 8, 32, transposed ? 256 : 64);
    const int64_t blocks = (m + block - 1) / block;
    const int64_t wide = std::clamp<int64_t>(all * blocks / tasks, 1, all);
    const int64_t parts = (all + wide - 1) / wide;
    const int64_t worth = grain_for(k_ * kernels::kPanel<T> / 8);
    parallel_for(blocks * parts, std::max<int64_t>(1, worth / (block * wide)),
                 [&](int64_t i, int64_t end) {
                   for (; i < end; ++i) {
                     const int64_t r = i % blocks * block, first = i / blocks * wide;
                     auto p = call(std::min(block, m - r), transposed,
                                   a + (transposed ? r : r * lda), lda, add, c + r * ldc, ldc);
                     p.first = first;
                     p.last = std::min(all, first + wide);
                     kernels::panel_product(p);
                   }
                 });
  }

 private:
  kernels::PanelProduct<T> call(int64_t m, bool transposed, const T* a, int64_t lda, bool add, T* c,
                                int64_t ldc) const {
    return {m, n_, k_, transposed, a, lda, panels_.data(), 0, kernels::panels<T>(n_), add, c, ldc};
  }

  int64_t k_, n_;
  Scratch<T> panels_;
};

}  // namespace fovea::detail
