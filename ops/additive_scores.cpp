// Additive scores.       q: (L, Tq, h), k: (L, Tk, h), v: (h);  s, gs: (L, Tq, Tk)
// forward   s_ij = sum_c v_c t_ijc,  t_ijc = tanh(q_ic + k_jc)
// backward  ds_ij/dq_ic = v_c (1 - t_ijc^2) = ds_ij/dk_jc  and  ds_ij/dv_c = t_ijc,   so with
//           d_ijc = gs_ij v_c (1 - t_ijc^2):  gq_ic = sum_j d_ijc,  gk_jc = sum_i d_ijc,
//           gv_c = sum_ij gs_ij t_ijc                        (Bahdanau 2014, appendix A.1.2)
// saves     q, k, v: t is made again
// A tanh costs less than to store it and to read it again, and (Tq, Tk, h) of them are the largest
// thing that a model with additive attention would hold. Differentiating twice does hold them.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/additive.h"

namespace fovea {
namespace {

constexpr const char* kName = "additive_scores";
constexpr int64_t kSteps = 16;  // elementary steps of a tanh, for the grain

// The rule, in ops: read this one.
std::array<Tensor, 3> additive_vjp(const Tensor& q, const Tensor& k, const Tensor& v,
                                   const Tensor& gs) {
  const Tensor t = tanh(unsqueeze(q, 2) + unsqueeze(k, 1));  // (L, Tq, Tk, h)
  const Tensor g = unsqueeze(gs, 3);
  const Tensor d = g * v * (1 - square(t));
  return {sum(d, 2), sum(d, 1), g * t};  // the engine sums the last to (h)
}

// How the backward pass is cut: a function of the shapes alone. The longer of queries and keys is
// cut into blocks of rows, each with sums of its own for the other; a block has 16 rows or more, so
// that these sums take at most a sixteenth of (Tq, Tk, h).
struct Cut {
  int64_t blocks;     // of the rows of one batch element
  int64_t rows;       // in a block, but for the last
  int64_t units;      // blocks in all
  int64_t per_chunk;  // units that one task takes
  int64_t chunks() const { return (units + per_chunk - 1) / per_chunk; }
};

Cut cut(int64_t batch, int64_t rows, int64_t others, int64_t h) {
  const int64_t for_threads = std::min(16 / batch, rows / 16);
  const int64_t for_digits = (rows + 511) / 512;  // sums of a block are of type T
  const int64_t wanted = std::max<int64_t>(for_threads, for_digits);
  const int64_t size = (rows + wanted - 1) / wanted, blocks = (rows + size - 1) / size;
  return {blocks, size, batch * blocks, grain_for(size * others * h * kSteps)};
}

// x_i = sum of parts_pi over p, in order and in double.
template <class T>
void add_parts(const T* parts, int64_t count, int64_t n, T* x) {
  for (int64_t i = 0; i < n; ++i) {
    double total = 0;
    for (int64_t p = 0; p < count; ++p) total += static_cast<double>(parts[p * n + i]);
    x[i] = static_cast<T>(total);
  }
}

// The same rule without (Tq, Tk, h). gq and gk are one thing to the kernel: a the longer, b the
// other.
template <class T>
void backward(const Tensor& a, const Tensor& b, const Tensor& v, const Tensor& gs, bool a_is_query,
              const Tensor& ga, const Tensor& gb, const Tensor& gv) {
  const int64_t batch = a.size(0), rows = a.size(1), others = b.size(1), h = a.size(2);
  const Cut c = cut(batch, rows, others, h);
  const int64_t step_a = a_is_query ? others : 1, step_b = a_is_query ? 1 : rows;
  Scratch<T> b_parts(c.blocks > 1 ? c.units * others * h : 0), v_parts(c.chunks() * h);
  T* sums = c.blocks > 1 ? b_parts.data() : gb.data<T>();
  std::fill(sums, sums + c.units * others * h, T(0));
  std::fill(v_parts.data(), v_parts.data() + c.chunks() * h, T(0));
  parallel_chunks(c.chunks(), [&](int64_t chunk) {
    const int64_t end = std::min(c.units, (chunk + 1) * c.per_chunk);
    for (int64_t u = chunk * c.per_chunk; u < end; ++u) {
      const int64_t element = u / c.blocks, first = u % c.blocks * c.rows;
      const int64_t at = (element * rows + first) * h;
      kernels::additive_scores_backward(kernels::AdditiveBackward<T>{
          .a = a.data<T>() + at,
          .b = b.data<T>() + element * others * h,
          .v = v.data<T>(),
          .gs = gs.data<T>() + element * rows * others + first * step_a,
          .step_a = step_a,
          .step_b = step_b,
          .ga = ga.data<T>() + at,
          .gb = sums + u * others * h,
          .gv = v_parts.data() + chunk * h,
          .rows = std::min(c.rows, rows - first),
          .others = others,
          .h = h});
    }
  });
  if (c.blocks > 1) {
    const int64_t n = others * h;
    parallel_for(batch, grain_for(n * c.blocks), [&](int64_t from, int64_t to) {
      for (int64_t e = from; e < to; ++e) {
        add_parts(sums + e * c.blocks * n, c.blocks, n, gb.data<T>() + e * n);
      }
    });
  }
  add_parts(v_parts.data(), c.chunks(), h, gv.data<T>());
}

std::array<Tensor, 3> additive_vjp_fused(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
                                         const Tensor& gs_in) {
  const Tensor q = detail::packed(q_in), k = detail::packed(k_in), v = detail::packed(v_in);
  const Tensor gs = detail::packed(gs_in);
  if (gs.numel() == 0 || v.numel() == 0) return {zeros_like(q), zeros_like(k), zeros_like(v)};
  const Tensor gq = detail::empty_as(q), gk = detail::empty_as(k), gv = detail::empty_as(v);
  visit_floating(q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (q.size(1) >= k.size(1)) {
      backward<T>(q, k, v, gs, true, gq, gk, gv);
    } else {
      backward<T>(k, q, v, gs, false, gk, gq, gv);
    }
  });
  return {gq, gk, gv};
}

void check_shapes(const Tensor& q, const Tensor& k, const Tensor& v) {
  bool fits = q.dim() >= 2 && k.dim() == q.dim() && v.dim() == 1 && q.size(-1) == v.size(0) &&
              k.size(-1) == v.size(0);
  for (int d = 0; d < q.dim() - 2 && fits; ++d) fits = q.shape()[d] == k.shape()[d];
  if (fits) return;
  throw ShapeError(fmt::format(
      "{}: q is {}, k is {}, v is {}; need q (..., Tq, h), k (..., Tk, h) and v (h), with equal "
      "leading axes",
      kName, q.shape().str(), k.shape().str(), v.shape().str()));
}

// q, k: (L, T, h)
Tensor additive_scores_of_rank_3(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in) {
  const Tensor q = detail::packed(q_in), k = detail::packed(k_in), v = detail::packed(v_in);
  const int64_t tq = q.size(1), tk = k.size(1), h = q.size(2);
  Tensor s = Tensor::empty({q.size(0), tq, tk}, q.dtype());
  visit_floating(q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(s.numel(), grain_for(h * kSteps), [&](int64_t at, int64_t end) {
      while (at < end) {  // what lies in [at, end) of each query's row
        const int64_t row = at / tk, j = at % tk, count = std::min(tk - j, end - at);
        kernels::additive_scores_row(q.data<T>() + row * h, k.data<T>() + (row / tq * tk + j) * h,
                                     v.data<T>(), s.data<T>() + at, count, h);
        at += count;
      }
    });
  });
  return record(kName, s, {q_in, k_in, v_in},
                {save_input("q", q_in), save_input("k", k_in), save_input("v", v_in)},
                [](const Saved& saved, const Tensor& gs) {
                  return use_formula() ? additive_vjp(saved[0], saved[1], saved[2], gs)
                                       : additive_vjp_fused(saved[0], saved[1], saved[2], gs);
                });
}

}  // namespace

Tensor additive_scores(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in) {
  detail::check_floating(kName, "q", q_in);
  detail::check_floating(kName, "k", k_in);
  detail::check_floating(kName, "v", v_in);
  check_shapes(q_in, k_in, v_in);
  const DType t = promote(promote(q_in.dtype(), k_in.dtype()), v_in.dtype());
  const Tensor q = to(q_in, t), k = to(k_in, t), v = to(v_in, t);
  if (q.dim() == 3) return additive_scores_of_rank_3(q, k, v);
  int64_t batch = 1;
  for (int d = 0; d < q.dim() - 2; ++d) batch *= q.shape()[d];
  Shape scores = q.shape();
  scores[scores.rank() - 1] = k.size(-2);
  const auto flat = [batch](const Tensor& x) {
    return reshape(x, {batch, x.size(-2), x.size(-1)});
  };
  return reshape(additive_scores_of_rank_3(flat(q), flat(k), v), scores);
}

}  // namespace fovea
