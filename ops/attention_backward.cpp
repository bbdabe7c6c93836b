// The backward pass of attention in tiles. Dao 2022, algorithm 4.
//
// A tile of 64 keys walks over the queries that see it. The weights come back as
// exp(s - m) / l, with the row's largest score m and its sum l; with
// delta = rowsum(dy y) = rowsum(P dP) the gradient of the scores needs no sum over the row:
//   dv += P' dy,   dP = dy v',   dS = P (dP - delta),   dq += scale dS k,   dk += scale dS' q
// Keys of one head may be walked by several tasks: each then adds to a dq of its own, and these are
// added in order.
#include "fovea/ops/attention_tile.h"
#include "fovea/ops/kernels/attention.h"
#include "fovea/ops/kernels/convert.h"

namespace fovea::detail {
namespace {

template <class T>
struct Backward {
  const HeadMatrices &q, &k, &v, &gy;
  const Mask& mask;
  const AttentionCall& call;
  const std::vector<uint8_t>&finite_q, &finite_gy, &finite_k, &finite_v;  // with a mask
  int64_t group;  // heads of q that share one of k and v
  const T *top, *total, *delta;
  T *gk, *gv;

  struct Buffers {
    Scratch<T> kt, vt, s, ds, dropped;
    Buffers(int64_t d, int64_t dv, int64_t keys, bool drop)
        : kt(d * keys),
          vt(dv * keys),
          s(kTile * kTile),
          ds(kTile * kTile),
          dropped(drop ? kTile * kTile : 1) {}
  };

  // Key tiles [begin, end) of head n of k and v; dq of all heads of q goes to gq, zeroed before.
  void run(int64_t n, int64_t begin, int64_t end, T* gq) const {
    const int64_t first = begin * kTile, keys = std::min(end * kTile, k.rows) - first;
    if (keys <= 0) return;
    Buffers b(k.cols, v.cols, keys, call.dropout > 0);
    kernels::transpose_copy(k.head<T>(n) + first * k.ld, k.ld, b.kt.data(), keys, k.cols);
    kernels::transpose_copy(v.head<T>(n) + first * v.ld, v.ld, b.vt.data(), keys, v.cols);
    for (int64_t j0 = first; j0 < first + keys; j0 += kTile) {
      const int64_t nk = std::min(kTile, k.rows - j0);
      T* dk = gk + (n * k.rows + j0) * k.cols;
      T* dv = gv + (n * k.rows + j0) * v.cols;
      std::fill(dk, dk + nk * k.cols, T(0));
      std::fill(dv, dv + nk * v.cols, T(0));
      for (int64_t h = n * group; h < (n + 1) * group; ++h) {
        const int64_t last = mask.last(j0 + nk - 1);
        for (int64_t i0 = mask.first(j0) / kTile * kTile; i0 < last; i0 += kTile) {
          tile(h, i0, j0, nk, b, j0 - first, keys, gq, dk, dv);
        }
      }
    }
  }

  void tile(int64_t h, int64_t i0, int64_t j0, int64_t nk, Buffers& b, int64_t at, int64_t keys,
            T* gq, T* dk, T* dv) const {
    const int64_t nq = std::min(kTile, q.rows - i0), d = q.cols, w = v.cols, n = h / group;
    const T scale = static_cast<T>(call.scale);
    const T* queries = q.head<T>(h) + i0 * q.ld;
    const T* up = gy.head<T>(h) + i0 * gy.ld;
    T *p = b.s.data(), *ds = b.ds.data();
    kernels::gemm(false, false, nq, nk, d, scale, queries, q.ld, b.kt.data() + at, keys, T(0), p,
                  kTile);
    const Mask::Kept kept = mask.apply(p, h, i0, nq, j0, nk);
    if (kept == Mask::Kept::none) return;
    kernels::attention_weights(p, nq, nk, kTile, top + h * q.rows + i0, total + h * q.rows + i0);
    const T* dropped = p;
    if (call.dropout > 0) {
      std::copy(p, p + nq * kTile, b.dropped.data());
      drop_tile(b.dropped.data(), call, h, q.rows, k.rows, i0, nq, j0, nk);
      dropped = b.dropped.data();
    }
    const T* keyed = k.head<T>(n) + j0 * k.ld;
    const T* valued = v.head<T>(n) + j0 * v.ld;
    T* dq = gq + (h * q.rows + i0) * d;
    const T* dlt = delta + h * q.rows + i0;
    if (kept == Mask::Kept::some && !finite(h, i0, n, j0)) {
      kept_only(p, dropped, nq, nk, queries, up, keyed, valued, dlt, h, i0, j0, dq, dk, dv);
      return;
    }
    kernels::gemm(true, false, nk, w, nq, T(1), dropped, kTile, up, gy.ld, T(1), dv, w);
    kernels::gemm(false, false, nq, nk, w, T(1), up, gy.ld, b.vt.data() + at, keys, T(0), ds,
                  kTile);
    drop_tile(ds, call, h, q.rows, k.rows, i0, nq, j0, nk);
    kernels::attention_gradient(p, ds, nq, nk, kTile, dlt);
    kernels::gemm(false, false, nq, d, nk, scale, ds, kTile, keyed, k.ld, T(1), dq, d);
    kernels::gemm(true, false, nk, d, nq, scale, ds, kTile, queries, q.ld, T(1), dk, d);
  }

  bool finite(int64_t h, int64_t i0, int64_t n, int64_t j0) const {
    const auto query = static_cast<size_t>(h * ((q.rows + kTile - 1) / kTile) + i0 / kTile);
    const auto key = static_cast<size_t>(n * ((k.rows + kTile - 1) / kTile) + j0 / kTile);
    return finite_q[query] && finite_gy[query] && finite_k[key] && finite_v[key];
  }

  // The same products over the pairs that have weight.
  void kept_only(const T* p, const T* dropped, int64_t nq, int64_t nk, const T* queries,
                 const T* up, const T* keyed, const T* valued, const T* dlt, int64_t h, int64_t i0,
                 int64_t j0, T* dq, T* dk, T* dv) const {
    const int64_t d = q.cols, w = v.cols;
    const T scale = static_cast<T>(call.scale);
    Scratch<T> line(kTile);
    for (int64_t r = 0; r < nq; ++r) {
      const T* g = up + r * gy.ld;
      for (int64_t c = 0; c < nk; ++c) {
        line[c] = 0;
        for (int64_t e = 0; p[r * kTile + c] != 0 && e < w; ++e) {
          line[c] += g[e] * valued[c * v.ld + e];
          dv[c * w + e] += dropped[r * kTile + c] * g[e];
        }
      }
      drop_tile(line.data(), call, h, q.rows, k.rows, i0 + r, 1, j0, nk);
      for (int64_t c = 0; c < nk; ++c) {
        if (p[r * kTile + c] == 0) continue;
        const T ds = scale * p[r * kTile + c] * (line[c] - dlt[r]);
        for (int64_t e = 0; e < d; ++e) {
          dq[r * d + e] += ds * keyed[c * k.ld + e];
          dk[c * d + e] += ds * queries[r * q.ld + e];
        }
      }
    }
  }
};

// rowsum(gy y)
template <class T>
void row_products(const HeadMatrices& gy, const T* y, T* out) {
  const int64_t rows = gy.heads() * gy.rows;
  parallel_for(rows, grain_for(gy.cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* g = gy.head<T>(i / gy.rows) + i % gy.rows * gy.ld;
      double sum = 0;
      for (int64_t e = 0; e < gy.cols; ++e) sum += double{g[e]} * double{y[i * gy.cols + e]};
      out[i] = static_cast<T>(sum);
    }
  });
}

}  // namespace

std::array<Tensor, 3> fused_attention_vjp(const Tensor& q, const Tensor& k, const Tensor& v,
                                          const FusedAttention& kept, const Tensor& gy,
                                          const AttentionCall& call) {
  const HeadMatrices mq(q), mk(k), mv(v), mg(gy);
  const Mask mask(q, k, call);
  std::array<Tensor, 3> g{empty_as(q), empty_as(k), empty_as(v)};
  const int64_t heads = mk.heads(), tiles = (mk.rows + kTile - 1) / kTile;
  const int64_t pieces = pieces_of_head(heads, tiles), n = q.numel();
  if (n == 0 || mk.rows == 0 || v.numel() == 0) {
    for (const Tensor& t : g) fill_with(t, 0);
    return g;
  }
  visit_floating(q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Scratch<T> delta(mq.heads() * mq.rows), partial((pieces - 1) * n);
    row_products(mg, kept.y.data<T>(), delta.data());
    const auto finite = [&](const HeadMatrices& x) {
      return mask.any() ? finite_tiles<T>(x) : std::vector<uint8_t>();
    };
    const auto fq = finite(mq), fg = finite(mg), fk = finite(mk), fv = finite(mv);
    const Backward<T> backward{mq,
                               mk,
                               mv,
                               mg,
                               mask,
                               call,
                               fq,
                               fg,
                               fk,
                               fv,
                               mq.heads() / heads,
                               kept.top.data<T>(),
                               kept.total.data<T>(),
                               delta.data(),
                               g[1].template data<T>(),
                               g[2].template data<T>()};
    T* gq = g[0].template data<T>();
    const int64_t of_head = n / heads;  // numbers of q that belong to a head of k
    parallel_chunks(heads * pieces, [&](int64_t t) {
      const int64_t head = t / pieces, piece = t % pieces;
      T* mine = piece == 0 ? gq : partial.data() + (piece - 1) * n;
      std::fill(mine + head * of_head, mine + (head + 1) * of_head, T(0));
      backward.run(head, piece * tiles / pieces, (piece + 1) * tiles / pieces, mine);
    });
    if (pieces == 1) return;
    parallel_for(n, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t p = 1; p < pieces; ++p) {
        const T* from = partial.data() + (p - 1) * n;
        for (int64_t i = begin; i < end; ++i) gq[i] += from[i];
      }
    });
  });
  return g;
}

}  // namespace fovea::detail
