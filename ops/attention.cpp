// Attention.    q: (..., H, Tq, D), k: (..., Hk, Tk, D), v: (..., Hk, Tk, Dv); y: (..., H, Tq, Dv)
// forward   S = scale q k',  P = softmax of what the mask keeps of S,  y = P v
// backward  dv = P' dy,  dP = dy v',  dS = P (dP - rowsum(P dP)),  dq = scale dS k,
//           dk = scale dS' q                                   (Vaswani 2017, eq. 1)
// saves     q, k, v, y and the log-sum-exp of each row of S: P is made again, tile by tile
// The fused bodies are in attention_forward.cpp and attention_backward.cpp and store nothing of
// size Tq x Tk. The rule here does: differentiating twice costs that.
#include "fovea/ops/attention.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "fovea/ops/internal.h"

namespace fovea {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

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
Tensor combined_mask(const Tensor& q, const Tensor& k, const detail::AttentionCall& call) {
  if (call.causal == Causal::none) return call.keep_mask;
  const Tensor past = to(tril(ones({q.size(-2), k.size(-2)}), call.ahead(q, k)), boolean);
  return call.keep_mask.defined() ? logical_and(call.keep_mask, past) : past;
}

Tensor weights(const Tensor& q, const Tensor& k, const Tensor& keep, double scale) {
  const Tensor scores = matmul(q, transpose(k, -2, -1)) * scale;
  if (keep.defined()) return masked_softmax(scores, keep);
  // A row of scores that are all -inf sees nothing, masked or not.
  const bool nothing = scores.numel() > 0 && any(amax(scores.detach(), {-1}) == -kInf);
  return nothing ? masked_softmax(scores, ones({}, boolean)) : softmax(scores, -1);
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

detail::AttentionCall checked(const char* op, const Tensor& q, const Tensor& k,
                              const AttentionOptions& o) {
  if (o.keep_mask.defined()) {
    detail::check_dtype(op, "keep_mask", o.keep_mask, boolean);
    Shape scores = q.shape();
    scores[scores.rank() - 1] = k.size(-2);
    if (!broadcasts_to(o.keep_mask.shape(), scores)) {
      throw ShapeError(fmt::format(
          "{}: keep_mask is {}, q is {}, k is {}; it must broadcast to the scores {}", op,
          o.keep_mask.shape().str(), q.shape().str(), k.shape().str(), scores.str()));
    }
  }
  if (o.scale && !std::isfinite(*o.scale)) {
    throw ValueError(fmt::format("{}: scale is {}; a finite number is needed", op, *o.scale));
  }
  if (!(o.dropout >= 0 && o.dropout <= 1)) {
    throw ValueError(
        fmt::format("{}: dropout is {}; a probability from 0 to 1 is needed", op, o.dropout));
  }
  const auto width = static_cast<double>(std::max<int64_t>(1, q.size(-1)));
  return {o.keep_mask, o.causal, o.scale.value_or(1 / std::sqrt(width)), o.dropout, {}};
}

// The sum over the heads of a group: (.., H, T, D) -> (.., Hk, T, D).
Tensor over_group(const Tensor& g, const Tensor& x) {
  const int d = x.dim() - 3;
  if (d < 0 || g.shape()[d] == x.shape()[d]) return g;
  Shape grouped = g.shape();
  grouped[d] = x.shape()[d];
  grouped.insert(d + 1, g.shape()[d] / x.shape()[d]);
  return sum(reshape(g, grouped), d + 1);
}

// The rule, in ops. Runs when someone will differentiate again.
std::array<Tensor, 3> attention_vjp(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Tensor& gy, const detail::AttentionCall& call) {
  const Tensor keep = combined_mask(q, k, call), seen = seen_by_any(keep, q);
  const Tensor keys = without_unseen(for_every_query_head(k, q), seen);
  const Tensor values = without_unseen(for_every_query_head(v, q), seen);
  const auto dropped = [&](const Tensor& x) {
    return detail::dropout_by_key(x, call.dropout, call.key);
  };
  const Tensor p = weights(q, keys, keep, call.scale);
  const Tensor gv = matmul(transpose(dropped(p), -2, -1), gy);
  const Tensor gp = dropped(matmul(gy, transpose(values, -2, -1)));
  const Tensor gs = p * (gp - sum(p * gp, -1, keepdim)) * call.scale;
  const Tensor gk = matmul(transpose(gs, -2, -1), q);
  return {matmul(gs, keys), over_group(without_unseen(gk, seen), k),
          over_group(without_unseen(gv, seen), v)};
}

}  // namespace

// Masked elements take part as -inf: probability and gradient 0. A row of nothing else, masked or
// not, would be 0 / 0; it goes through softmax as zeros and is then emptied, and with it its
// gradient.
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
  const Tensor none = full({}, -kInf, x.dtype());
  const Tensor any = amax(where(keep, x.detach(), none), {-1}, true) != none;
  const Tensor all = logical_and(keep, any);
  const Tensor out = where(any, none, zeros({}, x.dtype()));
  const Tensor y = softmax(where(all, x, out), -1);
  return where(all, y, zeros({}, x.dtype()));
}

Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& o) {
  constexpr const char* op = "attention_weights";
  check_shapes(op, q, k, k);
  const detail::AttentionCall call = checked(op, q, k, o);
  const Tensor keep = combined_mask(q, k, call);
  const Tensor keys = for_every_query_head(k, q);
  return weights(q, without_unseen(keys, seen_by_any(keep, q)), keep, call.scale);
}

Tensor scaled_dot_product_attention(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
                                    const AttentionOptions& o) {
  constexpr const char* op = "scaled_dot_product_attention";
  check_shapes(op, q_in, k_in, v_in);
  detail::AttentionCall call = checked(op, q_in, k_in, o);
  if (call.scale == 0) {  // BLAS would skip the product, and with it a NaN in k
    AttentionOptions one = o;
    one.scale = 1;
    return scaled_dot_product_attention(q_in * 0, k_in, v_in, one);
  }
  if (call.dropout > 0) call.key = (o.generator ? *o.generator : default_generator()).next();
  const DType t = promote(promote(q_in.dtype(), k_in.dtype()), v_in.dtype());
  const Tensor q = to(q_in, t), k = to(k_in, t), v = to(v_in, t);
  const detail::FusedAttention kept = detail::fused_attention(q, k, v, call);
  const Tensor mask = call.keep_mask;
  call.keep_mask = {};  // it is saved, where changing it in place shows
  return record(
      op, kept.y, {q, k, v},
      {save_input("q", q), save_input("k", k), save_input("v", v), save_output(kept.y),
       save_extra("lse", kept.lse), save_if(mask.defined(), save_input("keep_mask", mask))},
      [call](const Saved& s, const Tensor& gy) {
        detail::AttentionCall again = call;
        again.keep_mask = s[5];
        return use_formula()
                   ? attention_vjp(s[0], s[1], s[2], gy, again)
                   : detail::fused_attention_vjp(s[0], s[1], s[2], {s[3], s[4]}, gy, again);
      });
}

}  // namespace fovea
