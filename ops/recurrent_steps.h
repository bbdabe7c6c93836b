// How the walks over time of recurrent layers are cut, and what they multiply by. Not public.
#pragma once

#include <algorithm>
#include <optional>

#include "fovea/ops/kernels/gemm.h"
#include "fovea/ops/panelled.h"
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

  // f(first, rows) for every slice. Of a large batch a slice has 16 to 32 rows: fewer would wait
  // for the panels of the weights, more would leave threads idle; a small one is halved. The cuts
  // follow the number of threads, so f computes each row alone and sums nothing over rows.
  template <class F>
  void each_slice(const F& f) const {
    const int64_t share = (batch + threads() - 1) / threads();
    const int64_t rows = std::clamp<int64_t>((share + 7) / 8 * 8, 16, 32);
    const int64_t slices = std::max<int64_t>((batch + rows - 1) / rows, batch >= 8 ? 2 : 1);
    const int64_t worth = grain_for(time * hidden * gates * hidden / 8);
    parallel_for(batch, std::max((batch + slices - 1) / slices, worth),
                 [&](int64_t first, int64_t end) { f(first, end - first); });
  }
};

/// Weights that every step multiplies by: B (k, n), stored (n, k) when transposed. A step
/// multiplies few rows, and every step of every slice by the same matrix.
template <class T>
class StepWeights {
 public:
  StepWeights(const RecurrentWalk& walk, const Tensor& w, bool transposed, int64_t k, int64_t n)
      : w_(packed(w)), transposed_(transposed), k_(k), n_(n) {
    constexpr int64_t kWorth = 8;  // rows in all, from which the panels pay
    if (walk.batch * walk.time >= kWorth) panelled_.emplace(transposed, w_.data<T>(), ld(), k, n);
  }
  // C = A B, or C += A B.
  void product(int64_t m, const T* a, int64_t lda, bool add, T* c, int64_t ldc) const {
    if (panelled_) return panelled_->product(m, false, a, lda, add, c, ldc);
    kernels::gemm(false, transposed_, m, n_, k_, T(1), a, lda, w_.data<T>(), ld(),
                  add ? T(1) : T(0), c, ldc);
  }

  // C = A B for the rows of all steps, in parallel.
  void rows(const RecurrentWalk& walk, const T* a, int64_t lda, T* c, int64_t ldc) const {
    const int64_t count = walk.batch * walk.time;
    if (panelled_) return panelled_->rows(count, false, a, lda, false, c, ldc);
    parallel_chunks(1, [&](int64_t) { product(count, a, lda, false, c, ldc); });
  }

 private:
  int64_t ld() const { return transposed_ ? k_ : n_; }
  Tensor w_;
  bool transposed_;
  int64_t k_, n_;
  std::optional<Panelled<T>> panelled_;
};

}  // namespace fovea::detail
