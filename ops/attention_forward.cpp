// The forward pass of attention in tiles. Dao 2022, algorithm 1; Dao 2023 for the order of loops.
//
// A tile of 64 queries walks over the keys with, a query, the maximum m of its scores so far, the
// sum l of exp(s - m), and y, the sum of exp(s - m) v. A larger maximum makes all of it decay:
//   m' = max(m, max s),  l' = e^(m - m') l + sum e^(s - m'),  y' = e^(m - m') y + e^(s - m') v
// and in the end y / l, and m + log l for the backward pass. Keys are transposed once a piece: the
// products that BLAS is fastest at have no transposed right side. For a few queries, such as the
// one of a decoder's step, that costs more than the products do.
#include "fovea/ops/attention_tile.h"
#include "fovea/ops/kernels/attention.h"
#include "fovea/ops/kernels/convert.h"

namespace fovea::detail {
namespace {

// y += p v over the keys that have weight.
template <class T>
void add_kept(const T* p, int64_t nq, int64_t nk, const T* v, int64_t ldv, T* y, int64_t dv) {
  for (int64_t r = 0; r < nq; ++r) {
    for (int64_t c = 0; c < nk; ++c) {
      if (p[r * kTile + c] == 0) continue;
      for (int64_t e = 0; e < dv; ++e) y[r * dv + e] += p[r * kTile + c] * v[c * ldv + e];
    }
  }
}

template <class T>
struct Forward {
  const HeadMatrices &q, &k, &v;
  const Mask& mask;
  const AttentionCall& call;
  const std::vector<uint8_t>& finite;  // of v's tiles, when there is a mask
  int64_t group;                       // heads of q that share one of k and v
  T* y;
  T *top, *total;

  bool few() const { return q.rows <= 8; }

  // Query tiles [begin, end) of head n.
  void run(int64_t n, int64_t begin, int64_t end) const {
    const int64_t from = mask.begin(begin * kTile) / kTile * kTile;
    const int64_t keys = std::max(mask.end(std::min(end * kTile, q.rows) - 1) - from, int64_t{0});
    Scratch<T> kt(few() ? 0 : k.cols * keys), s(kTile * kTile), row(3 * kTile);
    if (keys > 0 && !few()) {
      kernels::transpose_copy(k.head<T>(n / group) + from * k.ld, k.ld, kt.data(), keys, k.cols);
    }
    for (int64_t i = begin; i < end; ++i) {
      tile(n, i * kTile, kt.data(), from, keys, s.data(), row.data());
    }
  }

  // kt: keys from `from` on, transposed, ldkt of them; not read for a few queries.
  void tile(int64_t n, int64_t i0, const T* kt, int64_t from, int64_t ldkt, T* s, T* row) const {
    const int64_t nq = std::min(kTile, q.rows - i0), d = q.cols, dv = v.cols;
    T *m = row, *l = row + kTile, *decay = row + 2 * kTile;
    T* out = y + (n * q.rows + i0) * dv;
    std::fill(out, out + nq * dv, T(0));
    std::fill(m, m + nq, -std::numeric_limits<T>::infinity());
    std::fill(l, l + nq, T(0));
    const T* queries = q.head<T>(n) + i0 * q.ld;
    const T *key_rows = k.head<T>(n / group), *values = v.head<T>(n / group);
    const int64_t keys = mask.end(i0 + nq - 1), tiles = (k.rows + kTile - 1) / kTile;
    for (int64_t j0 = mask.begin(i0) / kTile * kTile; j0 < keys; j0 += kTile) {
      const int64_t nk = std::min(kTile, keys - j0);
      kernels::gemm(false, few(), nq, nk, d, static_cast<T>(call.scale), queries, q.ld,
                    few() ? key_rows + j0 * k.ld : kt + (j0 - from), few() ? k.ld : ldkt, T(0), s,
                    kTile);
      const Mask::Kept kept = mask.apply(s, n, i0, nq, j0, nk);
      if (kept == Mask::Kept::none) continue;
      kernels::attention_accumulate(s, nq, nk, kTile, m, l, decay);
      kernels::attention_scale(out, nq, dv, dv, decay);
      drop_tile(s, call, n, q.rows, k.rows, i0, nq, j0, nk);
      if (kept == Mask::Kept::some &&
          !finite[static_cast<size_t>(n / group * tiles + j0 / kTile)]) {
        add_kept(s, nq, nk, values + j0 * v.ld, v.ld, out, dv);
      } else {
        kernels::gemm(false, false, nq, dv, nk, T(1), s, kTile, values + j0 * v.ld, v.ld, T(1), out,
                      dv);
      }
    }
    for (int64_t r = 0; r < nq; ++r) {
      const bool nothing = l[r] == 0 && m[r] == -std::numeric_limits<T>::infinity();
      decay[r] = nothing ? T(1) : 1 / l[r];
      top[n * q.rows + i0 + r] = nothing ? std::numeric_limits<T>::infinity() : m[r];
      total[n * q.rows + i0 + r] = nothing ? T(1) : l[r];
    }
    kernels::attention_scale(out, nq, dv, dv, decay);
  }
};

}  // namespace

FusedAttention fused_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                               const AttentionCall& call) {
  const HeadMatrices mq(q), mk(k), mv(v);
  const Mask mask(q, k, call);
  Shape rows = q.shape(), out = q.shape();
  rows.erase(rows.rank() - 1);
  out[out.rank() - 1] = v.size(-1);
  FusedAttention result{Tensor::empty(out, q.dtype()), Tensor::empty(rows, q.dtype()),
                        Tensor::empty(rows, q.dtype())};
  if (rows.numel() == 0) return result;
  const int64_t tiles = (mq.rows + kTile - 1) / kTile, pieces = pieces_of_head(mq.heads(), tiles);
  visit_floating(q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<uint8_t> finite = mask.any() ? finite_tiles<T>(mv) : std::vector<uint8_t>();
    const Forward<T> forward{mq,
                             mk,
                             mv,
                             mask,
                             call,
                             finite,
                             mq.heads() / mk.heads(),
                             result.y.data<T>(),
                             result.top.data<T>(),
                             result.total.data<T>()};
    parallel_chunks(mq.heads() * pieces, [&](int64_t t) {
      const int64_t piece = t % pieces;
      forward.run(t / pieces, piece * tiles / pieces, (piece + 1) * tiles / pieces);
    });
  });
  return result;
}

}  // namespace fovea::detail
