// How the walks over time of recurrent layers are cut, and what they multiply by. Not public.
#pragma once

#include <algorithm>

#include "fovea/ops/kernels/gemm.h"
#include "fovea/ops/kernels/panels.h"
#include "fovea/ops/recurrent.h"

namespace fovea::detail {

/// What a call is about: sizes, and where the row of sequence b at step t lies.
struct RecurrentWalk {
  int64_t batch, time, input, hidden, gates, planes;
  bool reverse, time_first;
  Tensor lengths;  // contiguous, or undefined

  RecurrentWalk(const RecurrentKind& kind, const RecurrentSaved& s, const Tensor& l, bool first)
      : batch(s.x.size(0)),
        time(s.x.size(1)),
        input(s.x.size(2)),
        hidden(s.h0.size(1)),
        gates(kind.gates),
        planes(kind.planes),
        reverse(s.reverse),
        time_first(first),
        lengths(l.defined() ? packed(l) : l) {}

  int64_t step(int64_t n) const { return reverse ? time - 1 - n : n; }
  int64_t row(int64_t b, int64_t t) const { return time_first ? t * batch + b : b * time + t; }
  int64_t between() const { return time_first ? 1 : time; }  // rows from sequence to sequence
  int64_t width() const { return planes * hidden; }
  const int64_t* lengths_from(int64_t b) const {
    return lengths.defined() ? lengths.data<int64_t>() + b : nullptr;
  }
  Tensor buffer(DType t, int64_t w) const {  // (B, T, w)
    return time_first
               ? Tensor::empty({time, batch, w}, t).alias({batch, time, w}, {w, batch * w, 1})
               : Tensor::empty({batch, time, w}, t);
  }

  // f(first, rows) for every slice; the cuts are a function of the shape alone.
  template <class F>
  void each_slice(const F& f) const {
    constexpr int64_t kRows = 16;
    const int64_t slices = std::max<int64_t>((batch + kRows - 1) / kRows, batch >= 8 ? 2 : 1);
    const int64_t worth = grain_for(time * hidden * gates * hidden / 8);
    parallel_for(batch, std::max((batch + slices - 1) / slices, worth),
                 [&](int64_t first, int64_t end) { f(first, end - first); });
  }
};

/// Weights that every step multiplies by: B (k, n), stored (n, k) when transposed. A step
/// multiplies few rows, and every step of every slice by the same matrix, so that is laid out for
/// it once.
template <class T>
class StepWeights {
 public:
  StepWeights(const RecurrentWalk& walk, const Tensor& w, bool transposed, int64_t k, int64_t n)
      : w_(packed(w)),
        transposed_(transposed),
        k_(k),
        n_(n),
        laid_out_(walk.batch * walk.time >= kWorth),
        panels_(laid_out_ ? kernels::panels<T>(n) * kernels::kPanel<T> * k : 0) {
    if (!laid_out_) return;
    const int64_t size = kernels::kPanel<T> * k;
    parallel_for(kernels::panels<T>(n), grain_for(size), [&](int64_t p, int64_t end) {
      for (; p < end; ++p) {
        kernels::pack_panel(transposed, w_.data<T>(), k, n, p, panels_.data() + p * size);
      }
    });
  }
  // C = A B, or C += A B.
  void product(int64_t m, const T* a, int64_t lda, bool add, T* c, int64_t ldc) const {
    if (laid_out_) return kernels::panel_product(m, n_, k_, a, lda, panels_.data(), add, c, ldc);
    kernels::gemm(false, transposed_, m, n_, k_, T(1), a, lda, w_.data<T>(), transposed_ ? k_ : n_,
                  add ? T(1) : T(0), c, ldc);
  }

  // C = A B for the rows of all steps, in parallel.
  void rows(const RecurrentWalk& walk, const T* a, int64_t lda, T* c, int64_t ldc) const {
    const int64_t count = walk.batch * walk.time, block = std::clamp<int64_t>(count / 8, 16, 64);
    parallel_for(count, std::max(block, grain_for(k_ * n_ / 8)), [&](int64_t r, int64_t end) {
      product(end - r, a + r * lda, lda, false, c + r * ldc, ldc);
    });
  }

 private:
  static constexpr int64_t kWorth = 8;  // rows in all, from which the panels pay
  Tensor w_;
  bool transposed_;
  int64_t k_, n_;
  bool laid_out_;
  mutable Scratch<T> panels_;
};

}  // namespace fovea::detail
