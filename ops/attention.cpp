// Attention.    q: (..., H, Tq, D), k: (..., Hk, Tk, D), v: (..., Hk, Tk, Dv); y: (..., H, Tq, Dv)
// forward   S = scale q k',  P = softmax of what the mask keeps of S,  y = P v
// backward  dv = P' dy,  dP = dy v',  dS = P (dP - rowsum(P dP)),  dq = scale dS k,
//           dk = scale dS' q                                   (Vaswani 2017, eq. 1)
// A composition: each step records its own rule.
#include <fmt/format.h>

#include <cmath>

#include "fovea/ops/internal.h"

namespace fovea {
namespace {

// Whether what has this shape can be shown as `to` without growing it.
bool broadcasts_to(const Shape& shape, const Shape& to) {
  bool fits = shape.rank() <= to.rank();
  for (int i = 1; i <= shape.rank() && fits; ++i) {
    const int64_t n = shape[shape.rank() - i];
    fits = n == 1 || n == to[to.rank() - i];
  }
  return fits;
}

void check_shapes(const char* op, const Tensor& q, const Tensor& k, const Tensor& v) {
  detail::check_floating(op, "q", q);
  detail::check_floating(op, "k", k);
  detail::check_floating(op, "v", v);
  const auto fail = [&](const char* need) {
    const std::string value = v.same_as(k) ? "" : ", v is " + v.shape().str();
    throw ShapeError(fmt::format("{}: q is {}, k is {}{}; need {}", op, q.shape().str(),
                                 k.shape().str(), value, need));
  };
  if (q.dim() < 2 || k.dim() != q.dim() || v.dim() != q.dim()) {
    fail("the same number of axes, at least (T, D)");
  }
  const int heads = q.dim() - 3;
  for (int d = 0; d < q.dim() - 2; ++d) {
    const bool grouped = d == heads && k.shape()[d] > 0 && q.shape()[d] % k.shape()[d] == 0;
    if (k.shape()[d] != v.shape()[d] || (k.shape()[d] != q.shape()[d] && !grouped)) {
      fail("equal leading axes; only the heads of q may be a multiple of those of k and v");
    }
  }
  if (q.size(-1) != k.size(-1)) fail("q.shape[-1] == k.shape[-1]");
  if (k.size(-2) != v.size(-2)) fail("k.shape[-2] == v.shape[-2], a value for each key");
}

// x with every head repeated for the queries of its group: (.., Hk, T, D) -> (.., H, T, D).
Tensor for_every_query_head(const Tensor& x, const Tensor& q) {
  const int d = x.dim() - 3;
  if (d < 0 || x.shape()[d] == q.shape()[d]) return x;
  return repeat_interleave(x, q.shape()[d] / x.shape()[d], d);
}

// What may be attended to, or nothing when everything may: broadcasts to (..., Tq, Tk).
Tensor combined_mask(const char* op, const Tensor& q, const Tensor& k, const AttentionOptions& o) {
  const int64_t tq = q.size(-2), tk = k.size(-2);
  Tensor keep = o.keep_mask;
  if (keep.defined()) {
    detail::check_dtype(op, "keep_mask", keep, boolean);
    Shape scores = q.shape();
    scores[scores.rank() - 1] = tk;
    if (!broadcasts_to(keep.shape(), scores)) {
      throw ShapeError(
          fmt::format("{}: keep_mask is {}, q is {}, k is {}; it must broadcast to the scores {}",
                      op, keep.shape().str(), q.shape().str(), k.shape().str(), scores.str()));
    }
  }
  if (o.causal == Causal::none) return keep;
  const int64_t ahead = o.causal == Causal::lower_right ? tk - tq : 0;
  const Tensor past = to(tril(ones({tq, tk}), ahead), boolean);
  return keep.defined() ? logical_and(keep, past) : past;
}

Tensor weights(const Tensor& q, const Tensor& k, const Tensor& keep, double scale) {
  const Tensor scores = matmul(q, transpose(k, -2, -1)) * scale;
  return keep.defined() ? masked_softmax(scores, keep) : softmax(scores, -1);
}

// Keys that no query may see become 0, so that not even a NaN in them is seen: 0 * NaN is NaN.
Tensor without_unseen(const Tensor& x, const Tensor& seen) {
  return seen.defined() ? where(seen, x, zeros({}, x.dtype())) : x;
}

// keep: (..., Tq, Tk) -> which keys any query sees, as a column for k and v: (..., Tk, 1).
Tensor seen_by_any(const Tensor& keep, const Tensor& q) {
  if (!keep.defined()) return {};
  const Tensor whole = keep.dim() < 2 ? reshape(keep, {1, keep.numel()}) : keep;
  if (q.size(-2) == 0) return {};
  return transpose(to(amax(to(whole, i64), {-2}, true), boolean), -2, -1);
}

double scale_of(const char* op, const Tensor& q, const AttentionOptions& o) {
  const double scale = o.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(-1))));
  if (o.scale && !std::isfinite(scale)) {
    throw ValueError(fmt::format("{}: scale is {}; a finite number is needed", op, scale));
  }
  return q.size(-1) == 0 && !o.scale ? 1 : scale;
}

}  // namespace

// Masked elements take part as -inf: probability and gradient 0. A row of nothing else would be
// 0 / 0; it goes through softmax as zeros and is then emptied, and with it its gradient.
Tensor masked_softmax(const Tensor& x, const Tensor& keep) {
  detail::check_floating("masked_softmax", "x", x);
  detail::check_dtype("masked_softmax", "keep", keep, boolean);
  if (x.dim() == 0) {
    throw ShapeError("masked_softmax: x is []; its last axis must be the choices");
  }
  if (!broadcasts_to(keep.shape(), x.shape())) {
    throw ShapeError(fmt::format("masked_softmax: x is {}, keep is {}; keep must broadcast to x",
                                 x.shape().str(), keep.shape().str()));
  }
  if (x.numel() == 0) return softmax(x, -1);
  const Tensor all = expand(keep, x.shape());
  const Tensor any = to(amax(to(all, i64), {-1}, true), boolean);
  const Tensor out = where(any, full({}, -std::numeric_limits<double>::infinity(), x.dtype()),
                           zeros({}, x.dtype()));
  const Tensor y = softmax(where(all, x, out), -1);
  return where(all, y, zeros({}, x.dtype()));
}

Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& o) {
  constexpr const char* op = "attention_weights";
  check_shapes(op, q, k, k);
  const Tensor keep = combined_mask(op, q, k, o);
  const Tensor keys = for_every_query_head(k, q);
  return weights(q, without_unseen(keys, seen_by_any(keep, q)), keep, scale_of(op, q, o));
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& o) {
  constexpr const char* op = "scaled_dot_product_attention";
  check_shapes(op, q, k, v);
  if (!(o.dropout >= 0 && o.dropout <= 1)) {
    throw ValueError(
        fmt::format("{}: dropout is {}; a probability from 0 to 1 is needed", op, o.dropout));
  }
  const Tensor keep = combined_mask(op, q, k, o);
  const Tensor seen = seen_by_any(keep, q);
  const Tensor keys = without_unseen(for_every_query_head(k, q), seen);
  const Tensor values = without_unseen(for_every_query_head(v, q), seen);
  const Tensor p = weights(q, keys, keep, scale_of(op, q, o));
  return matmul(dropout(p, o.dropout, true, o.generator), values);
}

}  // namespace fovea
