#include "fovea/ops/attention_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/ops/internal.h"

namespace fovea::detail {
namespace {

void check_shapes(const char* op, const Tensor& q, const Tensor& k, const Tensor& v) {
  check_floating(op, "q", q);
  check_floating(op, "k", k);
  check_floating(op, "v", v);
  const auto fail = [&](const char* need) {
    throw ShapeError(fmt::format("{}: q is {}, k is {}, v is {}; need {}", op, q.shape().str(),
                                 k.shape().str(), v.shape().str(), need));
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

Tensor both(const Tensor& a, const Tensor& b) { return a.defined() ? logical_and(a, b) : b; }

// Ones between the diagonals low and high of (Tq, Tk).
Tensor band(const Tensor& q, const Tensor& k, int64_t low, int64_t high) {
  return to(triu(tril(ones({q.size(-2), k.size(-2)}), high), low), boolean);
}

// keep: (..., Tq, Tk) -> which keys any query sees, as a column for k and v: (..., Tk, 1).
Tensor seen_by_any(const Tensor& keep, const Tensor& q) {
  if (!keep.defined() || q.size(-2) == 0) return {};
  const Tensor whole = keep.dim() < 2 ? reshape(keep, {1, keep.numel()}) : keep;
  return transpose(to(amax(to(whole, i64), {-2}, true), boolean), -2, -1);
}

Tensor without_unseen(const Tensor& x, const Tensor& seen) {
  return seen.defined() ? where(seen, x, zeros({}, x.dtype())) : x;
}

}  // namespace

Tensor for_every_query_head(const Tensor& x, const Tensor& q) {
  const int d = x.dim() - 3;
  if (d < 0 || x.shape()[d] == q.shape()[d]) return x;
  return repeat_interleave(x, q.shape()[d] / x.shape()[d], d);
}

bool broadcasts_to(const Shape& shape, const Shape& to) {
  bool fits = shape.rank() <= to.rank();
  for (int i = 1; i <= shape.rank() && fits; ++i) {
    const int64_t n = shape[shape.rank() - i];
    fits = n == 1 || n == to[to.rank() - i];
  }
  return fits;
}

void check_attention(const char* op, const Tensor& q, const Tensor& k, const Tensor& v,
                     const AttentionOptions& o) {
  check_shapes(op, q, k, v);
  Shape scores = q.shape();
  scores[scores.rank() - 1] = k.size(-2);
  const auto check_broadcast = [&](const char* arg, const Tensor& x) {
    if (broadcasts_to(x.shape(), scores)) return;
    throw ShapeError(
        fmt::format("{}: {} is {}, q is {}, k is {}; it must broadcast to the scores {}", op, arg,
                    x.shape().str(), q.shape().str(), k.shape().str(), scores.str()));
  };
  if (o.keep_mask.defined()) {
    check_dtype(op, "keep_mask", o.keep_mask, boolean);
    check_broadcast("keep_mask", o.keep_mask);
  }
  if (o.bias.defined()) {
    check_floating(op, "bias", o.bias);
    check_broadcast("bias", o.bias);
  }
  if (o.window && *o.window < 0) {
    throw ValueError(fmt::format("{}: window is {}; a distance is not negative", op, *o.window));
  }
  if (o.scale && !std::isfinite(*o.scale)) {
    throw ValueError(fmt::format("{}: scale is {}; a finite number is needed", op, *o.scale));
  }
  if (!(o.dropout >= 0 && o.dropout <= 1)) {
    throw ValueError(
        fmt::format("{}: dropout is {}; a probability from 0 to 1 is needed", op, o.dropout));
  }
}

Tensor kept_scores(const Tensor& q, const Tensor& k, const AttentionOptions& o) {
  const int64_t tq = q.size(-2), tk = k.size(-2);
  const int64_t ahead = o.causal == Causal::upper_left ? 0 : tk - tq;
  const bool causal = o.causal != Causal::none;
  if (!causal && !o.window) return o.keep_mask;
  // Wider than both sequences together is no limit, and cannot overflow.
  const int64_t wide = o.window ? std::min(*o.window, tq + tk) : tq + tk;
  return both(o.keep_mask, band(q, k, ahead - wide, causal ? ahead : ahead + wide));
}

AttentionScores attention_scores(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const AttentionOptions& o) {
  const auto width = static_cast<double>(std::max<int64_t>(1, q.size(-1)));
  const Tensor keep = kept_scores(q, k, o), seen = seen_by_any(keep, q);
  const Tensor keys = without_unseen(for_every_query_head(k, q), seen);
  const Tensor values = without_unseen(for_every_query_head(v, q), seen);
  const Tensor scores = matmul(q, transpose(keys, -2, -1)) * o.scale.value_or(1 / std::sqrt(width));
  return {o.bias.defined() ? scores + o.bias : scores, values, keep};
}

Tensor masked_weights(const Tensor& x, const Tensor& keep, Tensor (*f)(const Tensor&)) {
  if (x.numel() == 0) return f(x);
  const Tensor zero = zeros({}, x.dtype());
  const Tensor none = full({}, -std::numeric_limits<double>::infinity(), x.dtype());
  const Tensor top = amax(keep.defined() ? where(keep, x.detach(), none) : x.detach(), {-1}, true);
  if (!keep.defined() && !any(top == none)) return f(x);
  // A row of nothing else than -inf would be no distribution: it goes through as zeros.
  const Tensor some = top != none, all = both(keep, expand(some, x.shape()));
  return where(all, f(where(all, x, where(some, none, zero))), zero);
}

}  // namespace fovea::detail
