// The operands of attention checked, and its scores and masks in full.
#include "fovea/ops/attention_dense.h"

#include <fmt/format.h>

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

// What must broadcast to the scores, (..., H, Tq, Tk).
void check_broadcast(const char* op, const char* arg, const Tensor& x, const Tensor& q,
                     const Tensor& k) {
  Shape scores = q.shape();
  scores[scores.rank() - 1] = k.size(-2);
  if (broadcasts_to(x.shape(), scores)) return;
  throw ShapeError(fmt::format("{}: {} is {}, q is {}, k is {}; it must broadcast to the scores {}",
                               op, arg, x.shape().str(), q.shape().str(), k.shape().str(),
                               scores.str()));
}

// What may be attended to, or nothing when everything may: broadcasts to (..., Tq, Tk).
Tensor combined_mask(const Tensor& q, const Tensor& k, const AttentionCall& call) {
  Tensor keep = call.keep_mask;
  const auto limit = [&](const Tensor& ones_and_zeros) {
    const Tensor seen = to(ones_and_zeros, boolean);
    keep = keep.defined() ? logical_and(keep, seen) : seen;
  };
  const Tensor all = call.by_position() ? ones({q.size(-2), k.size(-2)}) : Tensor();
  const int64_t ahead = call.ahead(q.size(-2), k.size(-2));
  if (call.window) limit(tril(triu(all, ahead - *call.window), ahead + *call.window));
  if (call.causal != Causal::none) limit(tril(all, ahead));
  return keep;
}

// keep: (..., Tq, Tk) -> which keys any query sees, as a column for k and v: (..., Tk, 1).
Tensor seen_by_any(const Tensor& keep, const Tensor& q) {
  if (!keep.defined()) return {};
  const Tensor whole = keep.dim() < 2 ? reshape(keep, {1, keep.numel()}) : keep;
  if (q.size(-2) == 0) return {};
  return transpose(to(amax(to(whole, i64), {-2}, true), boolean), -2, -1);
}

}  // namespace

bool broadcasts_to(const Shape& shape, const Shape& to) {
  bool fits = shape.rank() <= to.rank();
  for (int i = 1; i <= shape.rank() && fits; ++i) {
    const int64_t n = shape[shape.rank() - i];
    fits = n == 1 || n == to[to.rank() - i];
  }
  return fits;
}

AttentionCall checked_attention(const char* op, const Tensor& q, const Tensor& k, const Tensor& v,
                                const AttentionOptions& o) {
  check_shapes(op, q, k, v);
  if (o.keep_mask.defined()) {
    check_dtype(op, "keep_mask", o.keep_mask, boolean);
    check_broadcast(op, "keep_mask", o.keep_mask, q, k);
  }
  if (o.bias.defined()) {
    check_floating(op, "bias", o.bias);
    check_broadcast(op, "bias", o.bias, q, k);
  }
  if (o.scale && !std::isfinite(*o.scale)) {
    throw ValueError(fmt::format("{}: scale is {}; a finite number is needed", op, *o.scale));
  }
  if (o.window && *o.window < 0) {
    throw ValueError(fmt::format("{}: window is {}; it counts keys, at least 0", op, *o.window));
  }
  if (!(o.dropout >= 0 && o.dropout <= 1)) {
    throw ValueError(
        fmt::format("{}: dropout is {}; a probability from 0 to 1 is needed", op, o.dropout));
  }
  const auto width = static_cast<double>(std::max<int64_t>(1, q.size(-1)));
  AttentionCall call{.keep_mask = o.keep_mask,
                     .bias = o.bias,
                     .causal = o.causal,
                     .scale = o.scale.value_or(1 / std::sqrt(width)),
                     .dropout = o.dropout};
  // As far as there are positions: sums with it must not overflow.
  if (o.window) call.window = std::min(*o.window, q.size(-2) + k.size(-2));
  if (call.dropout > 0) call.key = (o.generator ? *o.generator : default_generator()).next();
  return call;
}

DenseAttention dense_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                               const AttentionCall& call) {
  DenseAttention a;
  a.keep = combined_mask(q, k, call);
  a.seen = seen_by_any(a.keep, q);
  a.k = without_unseen(for_every_query_head(k, q), a.seen);
  a.v = v.same_as(k) ? a.k : without_unseen(for_every_query_head(v, q), a.seen);
  a.scores = matmul(q, transpose(a.k, -2, -1)) * call.scale;
  if (call.bias.defined()) a.scores = a.scores + call.bias;
  return a;
}

Tensor masked_weights(const Tensor& x, const Tensor& keep, Tensor (*f)(const Tensor&)) {
  if (x.numel() == 0) return f(x);
  const Tensor zero = zeros({}, x.dtype());
  const Tensor none = full({}, -std::numeric_limits<double>::infinity(), x.dtype());
  const Tensor top = amax(keep.defined() ? where(keep, x.detach(), none) : x.detach(), {-1}, true);
  if (!keep.defined() && !any(top == none)) return f(x);
  const Tensor some = top != none;
  const Tensor all = keep.defined() ? logical_and(keep, some) : expand(some, x.shape());
  return where(all, f(where(all, x, where(some, none, zero))), zero);
}

Tensor for_every_query_head(const Tensor& x, const Tensor& q) {
  const int d = x.dim() - 3;
  if (d < 0 || x.shape()[d] == q.shape()[d]) return x;
  return repeat_interleave(x, q.shape()[d] / x.shape()[d], d);
}

Tensor without_unseen(const Tensor& x, const Tensor& seen) {
  return seen.defined() ? where(seen, x, zeros({}, x.dtype())) : x;
}

Tensor over_group(const Tensor& g, const Tensor& x) {
  const int d = x.dim() - 3;
  if (d < 0 || g.shape()[d] == x.shape()[d]) return g;
  Shape grouped = g.shape();
  grouped[d] = x.shape()[d];
  grouped.insert(d + 1, g.shape()[d] / x.shape()[d]);
  return sum(reshape(g, grouped), d + 1);
}

}  // namespace fovea::detail
