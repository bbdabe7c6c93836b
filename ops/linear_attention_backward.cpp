// Linear attention backward. Katharopoulos 2020, eq. 13 to 15; the plan: linear_attention_scan.h.
//
// Two walks over chunks, where fq, fk, v1 and u1 are a chunk's:
//   forward, S of the keys before:    dfq = u1 S' + tril(u1 v1') fk,   then S += fk' v1
//   reverse, R of the queries after:  dfk = v1 R' + tril(u1 v1')' fq,
//                                     dv  = fk R  + tril(fq fk')' u1,  then R += fq' u1
#include "fovea/ops/linear_attention_scan.h"

namespace fovea::detail {
namespace {

template <class T>
struct LinearBackward {
  static constexpr int64_t C = FeatureScan::kChunk;
  const FeatureScan& s;
  const double *prefix, *pairs, *after;  // sums over pieces: S' of keys, and R of queries
  const T* u1;
  T *gq, *gk, *gv;

  Rows<T> u(int64_t head, int64_t t) const {
    return {u1 + (head * s.q.rows + s.first + t) * s.w, s.w};
  }

  void queries(int64_t head, int64_t piece) const {
    const int64_t m = s.m, w = s.w, size = m * w;
    FeatureChunks<T> chunks(s);
    RunningState<T> state(size);  // S': (w, m)
    std::vector<double> start(static_cast<size_t>(size));
    add_pieces(prefix, head, s.key_pieces, 0, s.key_pieces, size, start.data());
    if (s.causal) add_pieces(pairs, head, s.pieces, 0, piece, size, start.data());
    state.set(start.data());
    Scratch<T> a(C * C);
    s.each_chunk(s.queries, piece, s.pieces, [&](int64_t t, int64_t n) {
      T* g = gq + (head * s.q.rows + s.first + t) * m;
      const Rows<T> up = u(head, t);
      Rows<T> k{};
      if (s.causal) {
        k = chunks.keys(head, s.prefix + t, n);
        chunks.triangle(up, {chunks.v1(), w}, n, w, a.data());
        triangle_product(a.data(), false, n, k, m, g);
      }
      kernels::gemm(false, false, n, m, w, T(1), up.data, up.ld, state.data(), m,
                    s.causal ? T(1) : T(0), g, m);
      if (s.causal) state.add(n, chunks.v1(), w, w, k.data, k.ld, m);
    });
  }

  // The part of a chunk of keys that comes from the queries after it. R (m, w).
  void from_state(int64_t head, int64_t j, int64_t n, const Rows<T>& k, const T* v1, const T* r,
                  T* turned, T beta) const {
    const int64_t m = s.m, w = s.w, dv = w - 1;
    T* key = gk + (head * s.k.rows + j) * m;
    T* value = gv + (head * s.k.rows + j) * dv;
    kernels::transpose_copy(r, w, turned, m, w);
    kernels::gemm(false, false, n, m, w, T(1), v1, w, turned, m, beta, key, m);
    kernels::gemm(false, false, n, dv, m, T(1), k.data, k.ld, r, w, beta, value, dv);
    if (!s.keep.defined()) return;
    for (int64_t i = 0; i < n; ++i) {
      if (s.kept(head)[j + i]) continue;
      std::fill(key + i * m, key + (i + 1) * m, T(0));
      std::fill(value + i * dv, value + (i + 1) * dv, T(0));
    }
  }

  // Keys that every query sees.
  void shared_keys(int64_t head, int64_t piece) const {
    const int64_t size = s.m * s.w;
    FeatureChunks<T> chunks(s);
    RunningState<T> state(size);
    std::vector<double> start(static_cast<size_t>(size));
    add_pieces(after, head, s.pieces, 0, s.pieces, size, start.data());
    state.set(start.data());
    Scratch<T> turned(size);
    s.each_chunk(s.prefix, piece, s.key_pieces, [&](int64_t j, int64_t n) {
      const Rows<T> k = chunks.keys(head, j, n);
      from_state(head, j, n, k, chunks.v1(), state.data(), turned.data(), T(0));
    });
  }

  // Keys that have a query of their own, the last first.
  void own_keys(int64_t head, int64_t piece) const {
    const int64_t m = s.m, w = s.w, dv = w - 1, size = m * w;
    FeatureChunks<T> chunks(s);
    RunningState<T> state(size);
    std::vector<double> start(static_cast<size_t>(size));
    if (piece + 1 < s.pieces) {
      add_pieces(after, head, s.pieces, piece + 1, s.pieces, size, start.data());
    }
    state.set(start.data());
    Scratch<T> turned(size), a(C * C);
    const int64_t begin = s.border(s.queries, piece, s.pieces);
    const int64_t end = s.border(s.queries, piece + 1, s.pieces);
    for (int64_t t = begin + (s.chunks(end - begin) - 1) * C; t >= begin; t -= C) {
      const int64_t n = std::min(C, end - t), j = s.prefix + t;
      const Rows<T> q = chunks.queries(head, t, n), k = chunks.keys(head, j, n), up = u(head, t);
      chunks.triangle(up, {chunks.v1(), w}, n, w, a.data());
      triangle_product(a.data(), true, n, q, m, gk + (head * s.k.rows + j) * m);
      chunks.triangle(q, k, n, m, a.data());
      triangle_product(a.data(), true, n, up, dv, gv + (head * s.k.rows + j) * dv);
      from_state(head, j, n, k, chunks.v1(), state.data(), turned.data(), T(1));
      state.add(n, q.data, q.ld, m, up.data, up.ld, w);
    }
  }
};

}  // namespace

std::array<Tensor, 3> fused_feature_attention_vjp(const Tensor& fq, const Tensor& fk,
                                                  const Tensor& v,
                                                  const FusedFeatureAttention& kept,
                                                  const Tensor& gy,
                                                  const LinearAttentionOptions& o) {
  std::array<Tensor, 3> g{empty_as(fq), empty_as(fk), empty_as(v)};
  if (gy.numel() == 0 || fk.size(-2) == 0) {
    for (const Tensor& t : g) fill_with(t, 0);
    return g;
  }
  const FeatureScan s(fq, fk, v, o);
  const HeadMatrices up(gy);
  visit_floating(fq.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t w = s.w, size = s.m * w, rows = s.heads() * s.q.rows;
    const int64_t pieces = s.causal && s.pieces > 1 ? s.pieces : 0;
    const int64_t later = s.prefix > 0 || s.pieces > 1 ? s.pieces : 0;
    Scratch<T> u1(rows * w);
    Scratch<double> prefix(s.heads() * s.key_pieces * size), pairs(s.heads() * pieces * size),
        after(s.heads() * later * size);
    parallel_for(s.heads() * s.chunks(s.q.rows), 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const int64_t head = c / s.chunks(s.q.rows),
                      i = c % s.chunks(s.q.rows) * FeatureScan::kChunk;
        const int64_t at = head * s.q.rows + i;
        kernels::quotient_gradient(up.head<T>(head) + i * up.ld, up.ld,
                                   kept.y.data<T>() + at * (w - 1), kept.inverse.data<T>() + at,
                                   u1.data() + at * w, std::min(FeatureScan::kChunk, s.q.rows - i),
                                   w - 1);
      }
    });
    const auto key_sums = [&](int64_t from, int64_t total, int64_t count, double* to) {
      piece_sums<T>(s, total, count, w, s.m, to,
                    [&](FeatureChunks<T>& c, int64_t head, int64_t t, int64_t n) {
                      const Rows<T> k = c.keys(head, from + t, n);
                      return std::pair(Rows<T>{c.v1(), w}, k);
                    });
    };
    key_sums(0, s.prefix, s.key_pieces, prefix.data());
    key_sums(s.prefix, s.queries, pieces, pairs.data());
    const LinearBackward<T> backward{s,
                                     prefix.data(),
                                     pairs.data(),
                                     after.data(),
                                     u1.data(),
                                     g[0].template data<T>(),
                                     g[1].template data<T>(),
                                     g[2].template data<T>()};
    piece_sums<T>(s, s.queries, later, s.m, w, after.data(),
                  [&](FeatureChunks<T>& c, int64_t head, int64_t t, int64_t n) {
                    return std::pair(c.queries(head, t, n), backward.u(head, t));
                  });
    for (int64_t h = 0; h < s.heads(); ++h) {  // queries in front of every key
      T* gq = backward.gq + h * s.q.rows * s.m;
      std::fill(gq, gq + s.first * s.m, T(0));
    }
    const int64_t own = s.causal ? s.pieces : 0, tasks = s.pieces + s.key_pieces + own;
    parallel_chunks(s.heads() * tasks, [&](int64_t t) {
      const int64_t head = t / tasks, at = t % tasks;
      if (at < s.pieces) return backward.queries(head, at);
      if (at < s.pieces + s.key_pieces) return backward.shared_keys(head, at - s.pieces);
      backward.own_keys(head, at - s.pieces - s.key_pieces);
    });
  });
  return g;
}

}  // namespace fovea::detail
