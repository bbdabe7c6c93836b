// Heads and tiles: how fused attention walks its operands. Not public.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fovea/core/allocator.h"
#include "fovea/ops/attention.h"
#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/attention.h"
#include "fovea/ops/kernels/gemm.h"
#include "fovea/ops/kernels/random.h"

namespace fovea::detail {

inline constexpr int64_t kTile = 64;

/// (..., T, D) as matrices of rows `ld` apart, one a head; packed when rows are not contiguous.
struct HeadMatrices {
  Tensor tensor;
  std::vector<int64_t> offset;  // of each head
  int64_t rows, cols, ld;

  explicit HeadMatrices(const Tensor& x) : tensor(x) {
    rows = x.size(-2);
    cols = x.size(-1);
    const bool plain = (cols <= 1 || x.strides()[x.dim() - 1] == 1) &&
                       (rows <= 1 || x.strides()[x.dim() - 2] >= std::max<int64_t>(cols, 1));
    if (!plain) tensor = packed(x);
    ld = std::max({rows > 1 ? tensor.strides()[x.dim() - 2] : cols, cols, int64_t{1}});
    offset = head_offsets(tensor.shape(), tensor.strides());
  }
  int64_t heads() const { return static_cast<int64_t>(offset.size()); }
  template <class T>
  T* head(int64_t n) const {
    return tensor.data<T>() + offset[static_cast<size_t>(n)];
  }

  static std::vector<int64_t> head_offsets(const Shape& shape, const Strides& strides) {
    int64_t n = 1;
    for (int d = 0; d < shape.rank() - 2; ++d) n *= shape[d];
    std::vector<int64_t> all(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      int64_t rest = i;
      for (int d = shape.rank() - 3; d >= 0; --d) {
        all[static_cast<size_t>(i)] += rest % shape[d] * strides[d];
        rest /= shape[d];
      }
    }
    return all;
  }
};

/// Which scores count, by mask and by position.
class Mask {
 public:
  Mask(const Tensor& q, const Tensor& k, const AttentionCall& call)
      : keep_(call.keep_mask),
        ahead_(call.ahead(q.size(-2), k.size(-2))),
        queries_(q.size(-2)),
        keys_(k.size(-2)) {
    const int64_t everything = queries_ + keys_;
    before_ = call.window.value_or(everything);
    after_ = call.causal != Causal::none ? 0 : before_;
    if (!keep_.defined()) return;
    Shape scores = q.shape();
    scores[scores.rank() - 1] = keys_;
    const Strides s = broadcast_strides(keep_.shape(), keep_.strides(), scores);
    offset_ = HeadMatrices::head_offsets(scores, s);
    row_ = s[s.rank() - 2];
    col_ = s[s.rank() - 1];
  }

  /// Whether a query does not see all keys: the last one of a causal mask, alone, does.
  bool any() const {
    return keep_.defined() || (queries_ > 0 && (begin(queries_ - 1) > 0 || end(0) < keys_));
  }
  /// The keys that query i may see by position: [begin, end).
  int64_t begin(int64_t i) const { return std::clamp<int64_t>(i + ahead_ - before_, 0, keys_); }
  int64_t end(int64_t i) const { return std::clamp<int64_t>(i + ahead_ + after_ + 1, 0, keys_); }
  /// The queries that may see key j by position: [first, last).
  int64_t first(int64_t j) const { return std::clamp<int64_t>(j - ahead_ - after_, 0, queries_); }
  int64_t last(int64_t j) const {
    return std::clamp<int64_t>(j - ahead_ + before_ + 1, 0, queries_);
  }

  enum class Kept { none, some, all };
  /// Writes -inf over the scores that do not count: s (nq, nk) of rows kTile apart, of query i0 and
  /// key j0 on.
  template <class T>
  Kept apply(T* s, int64_t head, int64_t i0, int64_t nq, int64_t j0, int64_t nk) const {
    const bool whole = begin(i0 + nq - 1) <= j0 && j0 + nk <= end(i0);
    if (!keep_.defined() && whole) return Kept::all;
    constexpr T kNone = -std::numeric_limits<T>::infinity();
    int64_t kept = 0;
    for (int64_t r = 0; r < nq; ++r, s += kTile) {
      const int64_t from = std::clamp<int64_t>(begin(i0 + r) - j0, 0, nk);
      const int64_t to = std::clamp<int64_t>(end(i0 + r) - j0, from, nk);
      std::fill(s, s + from, kNone);
      std::fill(s + to, s + nk, kNone);
      kept += to - from;
      if (!keep_.defined()) continue;
      const uint8_t* keep =
          keep_.data<uint8_t>() + offset_[static_cast<size_t>(head)] + (i0 + r) * row_ + j0 * col_;
      for (int64_t c = from; c < to; ++c) {
        const bool on = keep[c * col_] != 0;
        s[c] = on ? s[c] : kNone;
        kept -= !on;
      }
    }
    return kept == 0 ? Kept::none : kept == nq * nk ? Kept::all : Kept::some;
  }

 private:
  Tensor keep_;
  int64_t ahead_, queries_, keys_;
  int64_t before_, after_;  // how far a query sees
  std::vector<int64_t> offset_;
  int64_t row_ = 0, col_ = 0;
};

/// Which tiles of rows hold numbers only: 0 * NaN is NaN, so where a mask splits a tile that holds
/// another, its products are taken element by element.
template <class T>
std::vector<uint8_t> finite_tiles(const HeadMatrices& x) {
  const int64_t tiles = (x.rows + kTile - 1) / kTile;
  std::vector<uint8_t> finite(static_cast<size_t>(x.heads() * tiles));
  parallel_for(x.heads() * tiles, grain_for(kTile * x.cols), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t first = t % tiles * kTile;
      const bool all = kernels::all_finite(x.head<T>(t / tiles) + first * x.ld,
                                           std::min(kTile, x.rows - first), x.cols, x.ld);
      finite[static_cast<size_t>(t)] = all ? 1 : 0;
    }
  });
  return finite;
}

/// Drops weights of a tile in place: the numbers are those of dropout() on (..., Tq, Tk).
template <class T>
void drop_tile(T* s, const AttentionCall& call, int64_t head, int64_t tq, int64_t tk, int64_t i0,
               int64_t nq, int64_t j0, int64_t nk) {
  if (call.dropout == 0) return;
  for (int64_t r = 0; r < nq; ++r, s += kTile) {
    kernels::dropout(s, s, (head * tq + i0 + r) * tk + j0, nk, call.dropout, call.key.seed,
                     call.key.stream);
  }
}

/// In how many pieces the work of one head is cut: by the shape alone, and enough for many threads.
inline int64_t pieces_of_head(int64_t heads, int64_t tiles) {
  constexpr int64_t kTasks = 16;
  return std::clamp<int64_t>((kTasks + heads - 1) / std::max<int64_t>(1, heads), 1,
                             std::max<int64_t>(1, tiles));
}

}  // namespace fovea::detail
