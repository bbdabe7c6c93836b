// SOFT: attention without softmax, through landmarks.
//               q: (..., H, Tq, D), k: (..., Hk, Tk, D), v: (..., Hk, Tk, Dv); y: (..., H, Tq, Dv)
// forward   g(x, z) = exp(-|x - z|^2 / (2 sqrt D)),  u: L landmarks,
//           y = g(q, u) g(u, u)^-1 g(u, k) v,  which stands for  g(q, k) v
// backward  that of its parts; of Y = A^-1:  dA = -Y' dY Y'                     (Lu 2021)
// saves     what its parts save: L (Tq + Tk) numbers a head, nothing of size Tq x Tk
//
// Landmarks. Lu 2021 has q = k and takes the means of neighbouring tokens. Queries and keys differ
// here, and the landmarks are means of keys: g(u, u) then is symmetric and has an inverse whenever
// landmarks differ, as Newton's method wants, and with a landmark for every key the result is exact
// for any queries. The keys that the mask keeps, in their order, are cut in L segments of equal
// lengths, give or take one: so padding changes no landmark. Where fewer keys are kept than there
// are landmarks some segments are empty; such a landmark is cut out of all three factors.
#include "fovea/ops/nystrom_attention.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/ops/attention_dense.h"
#include "fovea/ops/internal.h"
#include "fovea/ops/linear_attention.h"

namespace fovea {
namespace {

Tensor transposed(const Tensor& x) { return transpose(x, -2, -1); }

// g(x, z): (..., N, D), (..., M, D) -> (..., N, M)
Tensor gaussian_kernel(const Tensor& x, const Tensor& z) {
  const auto width = static_cast<double>(std::max<int64_t>(1, x.size(-1)));
  const Tensor across = matmul(x, transposed(z));
  const Tensor distances =
      sum(square(x), -1, keepdim) + transposed(sum(square(z), -1, keepdim)) - across * 2;
  return exp(distances * (-0.5 / std::sqrt(width)));
}

// Which share each key has in each landmark: (..., L, Tk), rows that sum to 1, or to 0 for a
// landmark of no key. keep: bool (..., Tk).
Tensor pooling(const Tensor& keep, int64_t landmarks, DType dtype) {
  const NoGrad scope;
  const Tensor on = to(keep, i64), count = sum(on, -1, keepdim);
  const Tensor rank = cumsum(on, -1) - on;  // of a kept key among those kept
  const Tensor segment = floor_divide(rank * landmarks, maximum(count, ones({}, i64)));
  const Tensor each = unsqueeze(arange(landmarks), -1);
  const Tensor member = logical_and(unsqueeze(segment, -2) == each, unsqueeze(keep, -2));
  const Tensor size = sum(member, -1, keepdim);
  return to(member, dtype) / to(maximum(size, ones({}, i64)), dtype);
}

// The mean of the keys that are kept, a constant, (..., 1, D): 0 where there is none. g sees
// differences alone, and is taken of what is left without it: |x|^2 + |z|^2 - 2 x'z of vectors that
// lie together far from 0 would be all rounding.
Tensor centre_of(const Tensor& k, const Tensor& keep) {
  const NoGrad scope;
  const Tensor count = unsqueeze(sum(keep, -1, keepdim), -1);
  return sum(k, -2, keepdim) / to(maximum(count, ones({}, i64)), k.dtype());
}

// A mask of keys with an element for each: (..., Tk).
Tensor every_key(const Tensor& keep, int64_t tk) {
  if (!keep.defined()) return ones({tk}, boolean);
  Shape shape = keep.dim() > 0 ? keep.shape() : Shape{1};
  shape[shape.rank() - 1] = tk;
  return expand(keep, shape);
}

void check(const char* op, const Tensor& q, const Tensor& k, const Tensor& v,
           const NystromOptions& o) {
  (void)detail::checked_attention(op, q, k, v, {});
  if (o.keep_mask.defined()) {
    detail::check_dtype(op, "keep_mask", o.keep_mask, boolean);
    Shape keys = q.shape();
    keys.erase(keys.rank() - 1);
    keys[keys.rank() - 1] = k.size(-2);
    if (!detail::broadcasts_to(o.keep_mask.shape(), keys)) {
      throw ShapeError(
          fmt::format("{}: keep_mask is {}, q is {}, k is {}; it must broadcast to the keys {}", op,
                      o.keep_mask.shape().str(), q.shape().str(), k.shape().str(), keys.str()));
    }
  }
  if (o.landmarks < 1) {
    throw ValueError(fmt::format("{}: landmarks is {}; at least 1", op, o.landmarks));
  }
  if (o.iterations < 1) {
    throw ValueError(fmt::format("{}: iterations is {}; at least 1", op, o.iterations));
  }
}

}  // namespace

// The start is half of the paper's 2 a / |a|_1^2, from which the largest eigenvalue falls to 0
// instead when it equals the norm, as it does for two landmarks. The iterations run in double:
// rounding is what limits how small an eigenvalue is told from 0.
Tensor detail::newton_inverse(const Tensor& a, int iterations) {
  Tensor y;
  {
    const NoGrad scope;
    const Tensor wide = to(a.detach(), f64);
    const Tensor norm1 = amax(sum(abs(wide), -2), -1);
    Tensor v = wide * unsqueeze(unsqueeze(1 / square(norm1), -1), -1);
    for (int i = 0; i < iterations; ++i) v = v * 2 - matmul(matmul(v, wide), v);
    y = to(v, a.dtype());
  }
  return record("newton_inverse", y, {a}, {save_output(y)}, [](const Saved& s, const Tensor& gy) {
    const Tensor turned = transposed(s[0]);
    return neg(matmul(matmul(turned, gy), turned));
  });
}

Tensor soft_attention_nystrom(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
                              const NystromOptions& o) {
  check("soft_attention_nystrom", q_in, k_in, v_in, o);
  const int64_t tk = k_in.size(-2), landmarks = std::min(o.landmarks, tk);
  const Tensor k_far =
      detail::without_hidden(detail::for_every_query_head(k_in, q_in), o.keep_mask);
  const Tensor v = detail::without_hidden(detail::for_every_query_head(v_in, q_in), o.keep_mask);
  if (tk == 0 || v.numel() == 0 || q_in.size(-2) == 0) {
    return matmul(matmul(q_in, transposed(k_far)), v);
  }
  const Tensor keep = every_key(o.keep_mask, tk), centre = centre_of(k_far, keep);
  const Tensor q = q_in - centre, k = detail::without_hidden(k_far - centre, o.keep_mask);
  const Tensor pool = pooling(keep, landmarks, k.dtype());
  const Tensor u = matmul(pool, k);
  const Tensor there = sum(pool, -1, keepdim) > 0;  // (..., L, 1)
  const Tensor zero = zeros({}, k.dtype());
  const Tensor a = where(logical_and(there, transposed(there)), gaussian_kernel(u, u),
                         eye(landmarks, k.dtype()));
  const Tensor of_keys = where(there, gaussian_kernel(u, k), zero);
  const Tensor of_queries = where(transposed(there), gaussian_kernel(q, u), zero);
  return matmul(of_queries, matmul(detail::newton_inverse(a, o.iterations), matmul(of_keys, v)));
}

}  // namespace fovea
