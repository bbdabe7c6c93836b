// Linear attention forward. Katharopoulos 2020, eq. 6 and 12; linear_attention_scan.h has the plan.
//
// A chunk of queries with the state S of the keys before it, where fq, fk and v1 are the chunk's:
//   [s, n] = fq S + tril(fq fk') v1,   y = s / n,   then S += fk' v1
#include "fovea/ops/kernels/attention.h"
#include "fovea/ops/linear_attention_scan.h"

namespace fovea::detail {
namespace {

template <class T>
struct LinearForward {
  const FeatureScan& s;
  const double *prefix, *pairs;  // sums over pieces
  T *y, *inverse;

  void run(int64_t head, int64_t piece) const {
    constexpr int64_t C = FeatureScan::kChunk;
    const int64_t m = s.m, w = s.w, size = m * w;
    FeatureChunks<T> chunks(s);
    RunningState<T> state(size);
    std::vector<double> start(static_cast<size_t>(size));
    add_pieces(prefix, head, s.key_pieces, 0, s.key_pieces, size, start.data());
    if (s.causal) add_pieces(pairs, head, s.pieces, 0, piece, size, start.data());
    state.set(start.data());
    Scratch<T> a(C * C), out(C * w);
    s.each_chunk(s.queries, piece, s.pieces, [&](int64_t t, int64_t n) {
      const Rows<T> q = chunks.queries(head, t, n);
      Rows<T> k{};
      if (s.causal) {
        k = chunks.keys(head, s.prefix + t, n);
        chunks.triangle(q, k, n, m, a.data());
        triangle_product(a.data(), false, n, Rows<T>{chunks.v1(), w}, w, out.data());
      }
      kernels::gemm(false, false, n, w, m, T(1), q.data, q.ld, state.data(), w,
                    s.causal ? T(1) : T(0), out.data(), w);
      divide(out.data(), head * s.q.rows + s.first + t, n);
      if (s.causal) state.add(n, k.data, k.ld, m, chunks.v1(), w, w);
    });
  }

  // Rows [s, n] -> y and 1 / n, from row `at` of all on.
  void divide(T* rows, int64_t at, int64_t n) const {
    const int64_t w = s.w, dv = w - 1;
    T* factor = inverse + at;
    for (int64_t r = 0; r < n; ++r) {
      const T sum = rows[r * w + dv];
      factor[r] = sum == 0 ? T(0) : 1 / sum;
      if (sum == 0) std::fill(rows + r * w, rows + r * w + dv, T(0));
    }
    kernels::attention_scale(rows, n, dv, w, factor);
    for (int64_t r = 0; r < n; ++r) std::copy(rows + r * w, rows + r * w + dv, y + (at + r) * dv);
  }
};

}  // namespace

FusedFeatureAttention fused_feature_attention(const Tensor& fq, const Tensor& fk, const Tensor& v,
                                              const LinearAttentionOptions& o) {
  Shape rows = fq.shape(), out = fq.shape();
  rows.erase(rows.rank() - 1);
  out[out.rank() - 1] = v.size(-1);
  FusedFeatureAttention result{Tensor::empty(out, fq.dtype()), Tensor::empty(rows, fq.dtype())};
  if (rows.numel() == 0) return result;
  const FeatureScan s(fq, fk, v, o);
  visit_floating(fq.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t size = s.m * s.w, pieces = s.causal && s.pieces > 1 ? s.pieces : 0;
    Scratch<double> prefix(s.heads() * s.key_pieces * size), pairs(s.heads() * pieces * size);
    const auto sums = [&](int64_t from, int64_t total, int64_t count, double* to) {
      piece_sums<T>(s, total, count, s.m, s.w, to,
                    [&](FeatureChunks<T>& c, int64_t head, int64_t t, int64_t n) {
                      const Rows<T> k = c.keys(head, from + t, n);
                      return std::pair(k, Rows<T>{c.v1(), s.w});
                    });
    };
    sums(0, s.prefix, s.key_pieces, prefix.data());
    sums(s.prefix, s.queries, pieces, pairs.data());
    const LinearForward<T> forward{s, prefix.data(), pairs.data(), result.y.data<T>(),
                                   result.inverse.data<T>()};
    parallel_chunks(s.heads() * s.pieces,
                    [&](int64_t t) { forward.run(t / s.pieces, t % s.pieces); });
    for (int64_t h = 0; h < s.heads(); ++h) {  // queries in front of every key
      T* y = forward.y + h * s.q.rows * (s.w - 1);
      T* inverse = forward.inverse + h * s.q.rows;
      std::fill(y, y + s.first * (s.w - 1), T(0));
      std::fill(inverse, inverse + s.first, T(0));
    }
  });
  return result;
}

}  // namespace fovea::detail
