// How linear attention walks its tokens. Not public.
//
// A column of ones behind the values makes the denominator one more element of the sum:
//   v1_j = [v_j, 1],   [s_i, n_i] = fq_i' S,   S = sum over the keys that i sees of fk_j v1_j'
// With u1_i = [u_i, -<u_i, y_i>], u = gy / n, the gradient of a score is <u1_i, v1_j>, so that
//   dfq_i = S u1_i,   dfk_j = R v1_j,   dv_j = R' fk_j without the last,   R = sum of fq_i u1_i'
// over the queries i that see j. Both states are M x (Dv + 1); nothing else grows.
//
// Causal: query first + t sees keys up to prefix + t, so keys from prefix on and queries from first
// on go in pairs t. Chunks of pairs are walked in order: what lies before a chunk comes from the
// state, what lies in it from a product of chunk x chunk numbers under a triangle. Without causal
// all keys are prefix and no query has a key of its own.
//
// Both sequences are cut in pieces, by the shape alone. Each piece's sum is taken first, then every
// piece starts from the sum of the pieces before it: so one head keeps several threads busy.
#pragma once

#include <algorithm>
#include <vector>

#include "fovea/ops/attention_tile.h"
#include "fovea/ops/kernels/attention.h"
#include "fovea/ops/kernels/convert.h"
#include "fovea/ops/kernels/linear_attention.h"
#include "fovea/ops/linear_attention.h"

namespace fovea::detail {

/// A state of M x (Dv + 1), or its transpose, summed in double.
template <class T>
class RunningState {
 public:
  explicit RunningState(int64_t n) : n_(n), sum_(n), now_(n), part_(n) { set(nullptr); }
  /// Starts from a sum of n numbers, or from 0.
  void set(const double* sum) {
    for (int64_t i = 0; i < n_; ++i) {
      sum_[i] = sum ? sum[i] : 0;
      now_[i] = static_cast<T>(sum_[i]);
    }
  }
  /// Adds a' b, a (rows, m), b (rows, w).
  void add(int64_t rows, const T* a, int64_t lda, int64_t m, const T* b, int64_t ldb, int64_t w) {
    kernels::gemm(true, false, m, w, rows, T(1), a, lda, b, ldb, T(0), part_.data(), w);
    kernels::add_to_state(part_.data(), sum_.data(), now_.data(), n_);
  }
  const T* data() { return now_.data(); }
  const double* sum() { return sum_.data(); }

 private:
  int64_t n_;
  Scratch<double> sum_;
  Scratch<T> now_, part_;
};

struct FeatureScan {
  static constexpr int64_t kChunk = 64;
  HeadMatrices q, k, v;
  Tensor keep;  // undefined, or contiguous (heads, Tk)
  bool causal;
  int64_t prefix, first, queries, m, w;  // w = Dv + 1
  std::vector<int64_t> blind;            // of each head: so many of the `queries` see no key
  int64_t key_pieces, pieces;

  FeatureScan(const Tensor& fq, const Tensor& fk, const Tensor& values,
              const LinearAttentionOptions& o)
      : q(fq), k(fk), v(values), causal(o.causal), m(q.cols), w(v.cols + 1) {
    prefix = causal ? std::max<int64_t>(0, k.rows - q.rows) : k.rows;
    first = causal ? std::max<int64_t>(0, q.rows - k.rows) : 0;
    queries = q.rows - first;
    key_pieces = prefix > 0 ? pieces_of_head(q.heads(), chunks(prefix)) : 0;
    pieces = pieces_of_head(q.heads(), chunks(queries));
    blind.assign(static_cast<size_t>(q.heads()), k.rows == 0 ? queries : 0);
    if (!o.keep_mask.defined()) return;
    Shape shape = fk.shape();
    shape.erase(shape.rank() - 1);
    keep = packed(o.keep_mask.alias(
        shape, broadcast_strides(o.keep_mask.shape(), o.keep_mask.strides(), shape)));
    for (int64_t h = 0; h < q.heads(); ++h) {
      const uint8_t* on = kept(h);
      const int64_t key = std::find(on, on + k.rows, 1) - on;  // the first that is kept
      blind[static_cast<size_t>(h)] =
          std::clamp<int64_t>(key == k.rows ? queries : key - prefix, 0, queries);
    }
  }

  static int64_t chunks(int64_t n) { return (n + kChunk - 1) / kChunk; }
  int64_t heads() const { return q.heads(); }
  const uint8_t* kept(int64_t head) const { return keep.data<uint8_t>() + head * k.rows; }
  /// The first of `n` tokens that belongs to a piece.
  static int64_t border(int64_t n, int64_t piece, int64_t pieces) {
    return std::min(n, piece * chunks(n) / pieces * kChunk);
  }

  /// Calls f(t, n) for the chunks of a piece of `total` tokens.
  template <class F>
  static void each_chunk(int64_t total, int64_t piece, int64_t pieces, const F& f) {
    const int64_t end = border(total, piece + 1, pieces);
    for (int64_t t = border(total, piece, pieces); t < end; t += kChunk) {
      f(t, std::min(kChunk, end - t));
    }
  }
};

/// Rows of a chunk, in place where nothing of them is hidden.
template <class T>
struct Rows {
  const T* data;
  int64_t ld;
};

/// The chunks of one task as matrices.
template <class T>
class FeatureChunks {
 public:
  explicit FeatureChunks(const FeatureScan& s)
      : s_(s), fk_(C * s.m), v1_(C * s.w), fq_(C * s.m), turned_(C * std::max(s.m, s.w)) {}

  /// n queries from first + t on. Those that see no key become 0, so that no NaN in them is met.
  Rows<T> queries(int64_t head, int64_t t, int64_t n) {
    const T* x = s_.q.head<T>(head) + (s_.first + t) * s_.q.ld;
    const int64_t blind = std::min(s_.blind[static_cast<size_t>(head)] - t, n);
    if (blind <= 0) return {x, s_.q.ld};
    std::fill(fq_.data(), fq_.data() + blind * s_.m, T(0));
    for (int64_t r = blind; r < n; ++r) {
      std::copy(x + r * s_.q.ld, x + r * s_.q.ld + s_.m, fq_.data() + r * s_.m);
    }
    return {fq_.data(), s_.m};
  }

  /// n keys from j on, and their values with a one behind, in v1(). What is hidden becomes 0.
  Rows<T> keys(int64_t head, int64_t j, int64_t n) {
    const T* value = s_.v.head<T>(head) + j * s_.v.ld;
    const T* key = s_.k.head<T>(head) + j * s_.k.ld;
    const uint8_t* on = s_.keep.defined() ? s_.kept(head) + j : nullptr;
    for (int64_t r = 0; r < n; ++r) {
      T* row = v1_.data() + r * s_.w;
      if (on && !on[r]) {
        std::fill(row, row + s_.w, T(0));
        std::fill(fk_.data() + r * s_.m, fk_.data() + (r + 1) * s_.m, T(0));
        continue;
      }
      std::copy(value + r * s_.v.ld, value + r * s_.v.ld + s_.w - 1, row);
      row[s_.w - 1] = 1;
      if (on) std::copy(key + r * s_.k.ld, key + r * s_.k.ld + s_.m, fk_.data() + r * s_.m);
    }
    return on ? Rows<T>{fk_.data(), s_.m} : Rows<T>{key, s_.k.ld};
  }
  const T* v1() { return v1_.data(); }

  /// out (n, n), rows C apart: what the triangle keeps of a b', a and b of n rows.
  void triangle(const Rows<T>& a, const Rows<T>& b, int64_t n, int64_t width, T* out) {
    kernels::transpose_copy(b.data, b.ld, turned_.data(), n, width);
    kernels::gemm(false, false, n, n, width, T(1), a.data, a.ld, turned_.data(), n, T(0), out, C);
    for (int64_t r = 0; r < n; ++r) std::fill(out + r * C + r + 1, out + r * C + n, T(0));
  }

  static constexpr int64_t C = FeatureScan::kChunk;

 private:
  const FeatureScan& s_;
  Scratch<T> fk_, v1_, fq_, turned_;
};

/// y = x b (or x' b), where x (n, n) counts on and below the diagonal only; y (n, width), b of n
/// rows. When the product is not finite it is taken again pair by pair: it may hold 0 * NaN of a
/// token that is not seen.
template <class T>
void triangle_product(const T* x, bool transposed, int64_t n, const Rows<T>& b, int64_t width,
                      T* y) {
  constexpr int64_t C = FeatureScan::kChunk;
  kernels::gemm(transposed, false, n, width, n, T(1), x, C, b.data, b.ld, T(0), y, width);
  if (kernels::all_finite(y, 1, n * width, n * width)) return;
  std::fill(y, y + n * width, T(0));
  for (int64_t r = 0; r < n; ++r, y += width) {
    for (int64_t c = transposed ? r : 0; c < (transposed ? n : r + 1); ++c) {
      const T weight = transposed ? x[c * C + r] : x[r * C + c];
      for (int64_t e = 0; e < width; ++e) y[e] += weight * b.data[c * b.ld + e];
    }
  }
}

/// The sums of a' b over the pieces of `total` tokens: sums[(head * pieces + piece) * size].
/// rows(chunks, head, t, n) gives the two matrices of a chunk.
template <class T, class F>
void piece_sums(const FeatureScan& s, int64_t total, int64_t pieces, int64_t a, int64_t b,
                double* sums, const F& rows) {
  parallel_chunks(s.heads() * pieces, [&](int64_t task) {
    FeatureChunks<T> chunks(s);
    RunningState<T> state(a * b);
    s.each_chunk(total, task % pieces, pieces, [&](int64_t t, int64_t n) {
      const auto [x, y] = rows(chunks, task / pieces, t, n);
      state.add(n, x.data, x.ld, a, y.data, y.ld, b);
    });
    std::copy(state.sum(), state.sum() + a * b, sums + task * a * b);
  });
}

/// Adds the sums of pieces [begin, end) of a head to `to`, in order.
inline void add_pieces(const double* sums, int64_t head, int64_t pieces, int64_t begin, int64_t end,
                       int64_t size, double* to) {
  for (int64_t p = begin; p < end; ++p) {
    const double* from = sums + (head * pieces + p) * size;
    for (int64_t i = 0; i < size; ++i) to[i] += from[i];
  }
}

}  // namespace fovea::detail
